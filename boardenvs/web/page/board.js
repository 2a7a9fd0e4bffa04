// The board: 64 buttons in a grid, played with the mouse, a finger or the keys.

import { el, svg } from "./dom.js";
import { T } from "./texts.js";
import { turned } from "./tree.js";

export const squareName = (square) => "abcdefgh"[square % 8] + (1 + (square >> 3));

export class Board {
  // `chosen(name)` gets a move; `edited(square)` a square while pieces are placed by hand.
  constructor({ chosen, edited }) {
    this.chosen = chosen;
    this.edited = edited;
    this.flipped = false;
    this.tournament = false;
    this.editing = false;
    this.from = null;
    this.position = null;
    this.badges = new Map();
    this.hint = [];
    this.focused = 0;
    this.dragged = null;
    this.squares = Array.from({ length: 64 }, (_, square) => this.#square(square));
    this.files = Array.from({ length: 8 }, () => el("span"));
    this.ranks = Array.from({ length: 8 }, () => el("span"));
    this.grid = el("div", { class: "grid", role: "group", "aria-label": T.board });
    this.over = svg("svg", { class: "over", viewBox: "0 0 8 8", "aria-hidden": "true" });
    this.element = el("div", { class: "board", id: "board" },
      el("div", { class: "ranks", "aria-hidden": "true" }, this.ranks),
      el("div", { class: "middle" }, this.grid, this.over),
      el("div", { class: "files", "aria-hidden": "true" }, this.files));
    this.grid.addEventListener("keydown", (event) => this.#key(event));
    this.#arrange();
  }

  name(square) {
    const name = squareName(square);
    return this.tournament ? turned(name) : name;
  }

  // What is shown; the position is the server's description, `info` that of the game.
  show(info, position, { legal = true, badges = new Map(), hint = [], tournament = false } = {}) {
    if (position !== this.position) this.from = null;
    const before = this.position?.board ?? "";
    const same = this.info === info;
    Object.assign(this, { info, position, badges, hint, tournament });
    this.moves = position && legal && !position.over ? position.legal.filter((move) => move.length > 1) : [];
    if (!same) {
      const colours = info.colours;
      for (const [key, colour] of Object.entries(colours)) this.element.style.setProperty(`--${key}`, colour);
      this.element.classList.toggle("lined", colours.light === colours.dark);
    }
    this.#arrange();
    for (let square = 0; square < 64; square++) this.#draw(square, same ? before[square] : undefined);
  }

  flip() {
    this.flipped = !this.flipped;
    this.#arrange();
  }

  // Lines over the board: moves as lists of squares, the first played first.
  line(moves) {
    const parts = [];
    moves.forEach((squares, index) => {
      const ends = squares.map((square) => this.#centre(square));
      const of = `move ${index % 2 ? "theirs" : "ours"}`;
      if (ends.length > 1) {
        const [[x, y], [u, v]] = ends, length = Math.hypot(u - x, v - y) || 1;
        const [dx, dy] = [(u - x) / length, (v - y) / length];
        parts.push(svg("line", { class: of, x1: x, y1: y, x2: u - 0.25 * dx, y2: v - 0.25 * dy }));
        parts.push(svg("polygon", { class: of, points: `${u},${v} ${u - 0.3 * dx - 0.16 * dy},${v - 0.3 * dy + 0.16 * dx} ${u - 0.3 * dx + 0.16 * dy},${v - 0.3 * dy - 0.16 * dx}` }));
      } else if (ends.length) {
        const [[x, y]] = ends;
        parts.push(svg("circle", { class: of, cx: x, cy: y, r: 0.33 }));
        parts.push(svg("text", { class: of, x, y: y + 0.13 }, String(index + 1)));
      }
    });
    this.over.replaceChildren(...parts);
  }

  #centre(square) {
    const [x, y] = [square % 8, square >> 3];
    return this.flipped ? [7.5 - x, y + 0.5] : [x + 0.5, 7.5 - y];
  }

  #square(square) {
    const made = el("button", { type: "button", class: "square", tabIndex: square === 0 ? 0 : -1, "data-square": String(square) });
    made.addEventListener("click", () => this.#click(square));
    made.addEventListener("focus", () => this.#rove(square));
    made.addEventListener("pointerdown", (event) => {
      this.dragged = event.button === 0 ? square : null;
      made.releasePointerCapture?.(event.pointerId);
    });
    made.addEventListener("pointerup", (event) => {
      const end = document.elementFromPoint(event.clientX, event.clientY)?.closest(".square");
      const [from, to] = [this.dragged, end && Number(end.dataset.square)];
      this.dragged = null;
      const move = from !== to && this.moves?.find((m) => m[1] === from && m[2] === to);
      if (move) this.chosen(move[0]);
    });
    // A finger that is scrolling, or taken away by the system, drags nothing.
    made.addEventListener("pointercancel", () => { this.dragged = null; });
    made.addEventListener("dragstart", (event) => event.preventDefault());
    return made;
  }

  #arrange() {
    const order = [];
    for (let row = 0; row < 8; row++) for (let column = 0; column < 8; column++) order.push(this.flipped ? 8 * row + 7 - column : 8 * (7 - row) + column);
    this.order = order;
    if (this.grid.children.length !== 64 || this.grid.firstChild !== this.squares[order[0]]) this.grid.replaceChildren(...order.map((square) => this.squares[square]));
    this.files.forEach((label, i) => { label.textContent = "abcdefgh"[this.flipped ? 7 - i : i]; });
    this.ranks.forEach((label, i) => { label.textContent = String((this.flipped === this.tournament) ? 8 - i : i + 1); });
  }

  #draw(square, before) {
    const made = this.squares[square], what = this.position?.board[square] ?? ".";
    const key = what === "0" || what === "1" ? Number(what) : null;
    const shown = made.dataset.what;
    if (shown !== what || made.info !== this.info) {
      made.replaceChildren();
      if (key !== null) made.append(el("img", { src: this.info.pieces[key], alt: "", draggable: false, class: before === String(1 - key) ? "turned" : "" }));
      made.dataset.what = what;
      made.info = this.info;
    } else made.querySelector(".badge")?.remove();
    const dark = ((square + (square >> 3)) & 1) === 0;
    const froms = this.moves.filter((m) => m.length > 2 && m[1] === square);
    const isTarget = this.moves.some((m) => (m.length === 2 ? m[1] === square : m[1] === this.from && m[2] === square));
    const marked = this.position?.marks.includes(square), hinted = this.hint.includes(square);
    made.className = ["square", dark ? "dark" : "light", what === "#" && "hole", isTarget && "legal", froms.length && "movable", this.from === square && "selected", marked && "marked", hinted && "hinted"].filter(Boolean).join(" ");
    const badge = this.badges.get(square);
    if (badge) made.append(el("span", { class: `badge ${badge.best ? "best" : ""}`, style: { "--share": badge.share } }, badge.text));
    const name = key === null ? (what === "#" ? T.hole : T.empty) : this.info.roles[key];
    const notes = [
      isTarget && (this.info.moves_pieces ? T.target : T.legal), froms.length && this.from !== square && T.movable,
      this.from === square && T.selected, marked && T.lastMove, hinted && T.hinted, badge && badge.text,
    ];
    made.setAttribute("aria-label", T.square(this.name(square), isTarget && what === "." && !this.info.moves_pieces ? "" : name, notes));
    made.setAttribute("aria-disabled", String(!(isTarget || froms.length || this.editing)));
  }

  #click(square) {
    if (this.editing) return this.edited(square);
    const move = this.moves.find((m) => (m.length === 2 ? m[1] === square : this.from !== null && m[1] === this.from && m[2] === square));
    if (move) return this.chosen(move[0]);
    const can = this.moves.some((m) => m.length > 2 && m[1] === square);
    this.from = can && this.from !== square ? square : null;
    for (let s = 0; s < 64; s++) this.#draw(s, this.position?.board[s]);
  }

  #rove(square) {
    this.squares[this.focused].tabIndex = -1;
    this.focused = square;
    this.squares[square].tabIndex = 0;
  }

  #key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Escape" && this.from !== null) {
      this.#click(this.from);
      return;
    }
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.order.indexOf(this.focused);
    const [x, y] = [(at % 8) + step[0], (at >> 3) + step[1]];
    if (x >= 0 && x < 8 && y >= 0 && y < 8) this.squares[this.order[8 * y + x]].focus();
  }
}
