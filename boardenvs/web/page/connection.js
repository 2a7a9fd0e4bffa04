// The connection to the server: requests with answers in parts, and reconnection.

export class Lost extends Error {}

export class Connection extends EventTarget {
  #socket = null;
  #open = new Map(); // requests by id
  #id = 0;
  #delay = 250;
  connected = false;
  hello = null;

  start() {
    const address = new URL("connect", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    address.hash = address.search = "";
    this.#socket = new WebSocket(address);
    this.#socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    this.#socket.onclose = () => this.#lose();
  }

  // Returns the last part of the answer; `part` is called with each one, `signal` can stop the request.
  request(question, { part = () => {}, signal } = {}) {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      if (!this.connected) return reject(new Lost());
      if (signal?.aborted) return resolve({ stopped: true });
      const waiting = { part, resolve, reject, last: {} };
      this.#open.set(id, waiting);
      this.#socket.send(JSON.stringify({ id, ...question }));
      signal?.addEventListener("abort", () => {
        if (this.#open.has(id) && this.connected) this.#socket.send(JSON.stringify({ id: ++this.#id, do: "stop", job: id }));
      });
    });
  }

  #receive(message) {
    if (message.hello) {
      this.hello = message.hello;
      this.connected = true;
      this.#delay = 250;
      this.dispatchEvent(new Event("open"));
      return;
    }
    const waiting = this.#open.get(message.id);
    if (!waiting) return;
    if (message.error !== undefined) {
      this.#open.delete(message.id);
      waiting.reject(new Error(message.error));
    } else if (message.end) {
      this.#open.delete(message.id);
      waiting.resolve({ ...waiting.last, stopped: message.stopped });
    } else {
      waiting.last = message;
      waiting.part(message);
    }
  }

  #lose() {
    const before = this.connected;
    this.connected = false;
    for (const waiting of this.#open.values()) waiting.reject(new Lost());
    this.#open.clear();
    if (before || !this.hello) this.dispatchEvent(new Event("lost"));
    setTimeout(() => this.start(), this.#delay);
    this.#delay = Math.min(4000, 1.5 * this.#delay);
  }
}
