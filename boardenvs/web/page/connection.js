// The connection to the server: proof of the token, requests with answers in parts, and reconnection.

import { hmac, nonce } from "./proof.js";

const KEPT = "boardenvs-token";
const TOKEN = /^#token=([\w-]{32})(?:&|$)/;

export class Lost extends Error {}

export class Connection extends EventTarget {
  #socket = null;
  #open = new Map(); // requests by id
  #id = 0;
  #delay = 250;
  token = null;
  connected = false;
  stranger = false; // whether another program has answered
  hello = null;

  // Take the token out of the address, and connect. The browser keeps it for reloads of this tab alone.
  start() {
    const given = TOKEN.exec(location.hash);
    try {
      if (given) sessionStorage.setItem(KEPT, given[1]);
      this.token ??= sessionStorage.getItem(KEPT);
    } catch { /* the browser does not allow it */ }
    if (given) {
      this.token = given[1];
      this.stranger = false;
      history.replaceState(history.state, "", location.hash.replace(TOKEN, "#"));
    }
    if (!this.token) this.dispatchEvent(new Event("lost"));
    else if (!this.connected) this.#connect();
  }

  #connect() {
    const address = new URL("connect", location.href), mine = nonce();
    address.protocol = address.protocol.replace("http", "ws");
    address.hash = address.search = "";
    const socket = this.#socket = new WebSocket(address);
    socket.onopen = () => socket.send(mine);
    socket.onclose = () => this.#lose();
    // The server's first message must prove that it knows the token. Otherwise nothing more is sent to it.
    socket.onmessage = ({ data }) => {
      const [theirs, proof] = String(data).split(" ");
      this.stranger = proof !== hmac(this.token, `server ${mine} ${theirs}`);
      if (this.stranger) return socket.close();
      socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
      socket.send(hmac(this.token, `page ${mine} ${theirs}`));
    };
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

  // The address of a "report", or for sending a file of "records", with a proof of the token.
  proven(kind, name) { return `${kind}/${hmac(this.token, `${kind} ${name}`)}/${encodeURIComponent(name)}`; }

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
    if (before || this.stranger || !this.hello) this.dispatchEvent(new Event("lost"));
    if (this.stranger) return;
    setTimeout(() => this.#connect(), this.#delay);
    this.#delay = Math.min(4000, 1.5 * this.#delay);
  }
}
