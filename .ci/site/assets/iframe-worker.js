/* Browsers start no worker for a page that was opened from a file. There, and there alone, the
 * search's worker runs in a hidden frame, which exchanges the same messages with the page. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = `<script>
        window.postMessage = message => parent.postMessage(message, "*")
        window.importScripts = (...urls) => Promise.all(urls.map(url => new Promise(done => {
          const script = document.createElement("script")
          script.src = url
          script.onload = done
          document.head.append(script)
        })))
      </script><script src="${url}"></script>`
      this.frame.onload = () => {
        const waiting = this.waiting
        this.waiting = null
        waiting.forEach(message => this.postMessage(message))
      }
      window.addEventListener("message", event => {
        if (event.source === this.frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      })
      document.body.append(this.frame)
    }

    postMessage(message) {
      if (this.waiting) this.waiting.push(message)
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: message }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
