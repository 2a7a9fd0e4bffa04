// The board: a grid of buttons for mouse, touch and keyboard.

import { button, el, svg } from "./dom.js";
import { T } from "./texts.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");
const SLIDE = { duration: 220, easing: "ease-in-out" };
const FALL = { duration: 350, easing: "ease-in" };
const TURN = { duration: 320, easing: "ease-in-out" };

export class Board {
  // `chosen(name)` is called with a move, `edited(square)` in editing mode, and `picked()` when the
  // selected piece changes.
  constructor({ chosen, edited, picked }) {
    Object.assign(this, { chosen, edited, picked, flipped: false, editing: false, from: null, position: null, values: new Map(), hint: [], focused: 0 });
    this.pointed = null; // the square under the pointer or with the focus
    this.dragged = null;
    this.shape = [0, 0]; // rows and columns
    this.grid = el("div", { class: "grid", role: "group", "aria-label": T.board });
    this.over = svg("svg", { class: "over", "aria-hidden": "true" });
    this.rows = el("div", { class: "ranks", "aria-hidden": "true" });
    this.columns = el("div", { class: "files", "aria-hidden": "true" });
    this.asking = el("dialog", { class: "ask", "aria-label": T.which });
    this.element = el("div", { class: "board", id: "board" }, this.rows, el("div", { class: "middle" }, this.grid, this.over), this.columns, this.asking);
    this.grid.addEventListener("keydown", (event) => this.#key(event));
    // After a click arrow keys step through the game, as elsewhere; after Tab they go from square to square.
    this.grid.addEventListener("pointerdown", () => { this.byPointer = true; });
    document.addEventListener("keydown", ({ key }) => { if (["Tab", "Enter", " "].includes(key)) this.byPointer = false; });
  }

  get #size() { return this.shape[0] * this.shape[1]; }

  name(square) {
    const [rows, columns] = this.shape, row = Math.floor(square / columns);
    return this.look.files[square % columns] + (this.look.from_top ? rows - row : row + 1);
  }

  // Show a position; `position` and `info` (of the game) come from the server.
  show(info, position, { legal = true, values = new Map(), hint = [] } = {}) {
    const before = this.info === info ? this.position : null, newLook = this.look !== info.look, { look } = info;
    Object.assign(this, { info, look, position, values, hint });
    this.moves = position && legal && !position.over ? position.legal.filter(([, squares]) => squares.length) : [];
    if (position !== before) this.asking.close();
    // A piece that has moved and alone may move on is selected.
    const starts = new Set(this.moves.map(([, squares]) => (squares.length > 1 ? squares[0] : null)));
    if (position !== before) this.from = starts.size === 1 && position.marks.includes([...starts][0]) ? [...starts][0] : null;
    if (String(this.shape) !== String(info.shape)) this.#make(info.shape);
    if (newLook) {
      for (const [key, colour] of Object.entries(look.colours)) this.element.style.setProperty(`--${key}`, colour);
      this.element.classList.toggle("lined", look.colours.light === look.colours.dark);
      this.#fit(look.cells);
    }
    this.#arrange();
    for (let square = 0; square < this.#size; square++) this.#draw(square);
    if (before && Math.abs(before.ply - position.ply) === 1 && !newLook && !this.editing) this.#animate(before.board, position.board);
    this.#preview();
  }

  flip() { this.flipped = !this.flipped; this.#arrange(); }

  // Draw an arrow for a move, given by its squares; remove it if there are none.
  point(squares = []) {
    const ends = squares.map((square) => this.#centre(square)), parts = [];
    if (ends.length > 1) {
      const [[x, y], [u, v]] = [ends[0], ends.at(-1)], length = Math.hypot(u - x, v - y) || 1;
      const [dx, dy] = [(u - x) / length, (v - y) / length];
      parts.push(svg("line", { x1: x, y1: y, x2: u - 0.25 * dx, y2: v - 0.25 * dy }));
      parts.push(svg("polygon", { points: `${u},${v} ${u - 0.3 * dx - 0.16 * dy},${v - 0.3 * dy + 0.16 * dx} ${u - 0.3 * dx + 0.16 * dy},${v - 0.3 * dy - 0.16 * dx}` }));
    } else if (ends.length) parts.push(svg("circle", { cx: ends[0][0], cy: ends[0][1], r: 0.4 }));
    this.over.replaceChildren(...parts);
  }

  #centre(square) {
    const { corners } = this.look.cells;
    return corners[this.flipped ? corners.length - 1 - square : square].map((from) => from + 0.5);
  }

  #fit({ size: [width, height], outline }) {
    this.over.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const element of [this.element, document.documentElement]) {
      element.style.setProperty("--rows", height);
      element.style.setProperty("--columns", width);
    }
    this.element.classList.toggle("hexagons", Boolean(outline));
    this.element.classList.toggle("grounded", Boolean(this.look.ground));
    this.element.style.setProperty("--ground", this.look.ground ? `url(${this.look.ground})` : "none");
    this.element.style.setProperty("--outline", outline?.map((ends) => ends.map((end) => `${100 * end}%`).join(" ")).join(",") ?? "");
  }

  #make(shape) {
    this.shape = shape;
    const [rows, columns] = shape;
    this.squares = Array.from({ length: rows * columns }, (_, square) => this.#square(square));
    this.rows.replaceChildren(...Array.from({ length: rows }, () => el("span")));
    this.columns.replaceChildren(...Array.from({ length: columns }, () => el("span")));
    this.grid.replaceChildren();
    this.focused = 0;
    this.pointed = null;
    this.squares[0].tabIndex = 0;
  }

  #square(square) {
    const made = el("button", { type: "button", tabIndex: -1, onclick: () => this.#click(square), onfocus: () => { this.#rove(square); this.#preview(square); } });
    made.dataset.square = square;
    made.addEventListener("pointerenter", () => this.#preview(square));
    made.addEventListener("pointerleave", () => this.#preview(null));
    made.addEventListener("blur", () => this.#preview(null));
    made.addEventListener("pointerdown", (event) => {
      this.dragged = event.button === 0 ? square : null;
      made.releasePointerCapture?.(event.pointerId);
    });
    made.addEventListener("pointerup", (event) => {
      const end = document.elementFromPoint(event.clientX, event.clientY)?.closest(".square");
      const [from, to] = [this.dragged, end && Number(end.dataset.square)];
      this.dragged = null;
      const moves = from !== to && this.moves?.filter(([, squares]) => squares.length > 1 && squares[0] === from && squares.at(-1) === to);
      if (moves?.length) this.#choose(moves);
    });
    // Scrolling is no dragging.
    made.addEventListener("pointercancel", () => { this.dragged = null; });
    made.addEventListener("dragstart", (event) => event.preventDefault());
    return made;
  }

  #arrange() {
    const [rows, columns] = this.shape, order = [];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) order.push(this.flipped ? columns * row + columns - 1 - column : columns * (rows - 1 - row) + column);
    }
    this.order = order;
    if (this.grid.firstChild !== this.squares[order[0]]) this.grid.replaceChildren(...order.map((square) => this.squares[square]));
    this.squares.forEach((made, square) => this.#place(made, square));
    [...this.columns.children].forEach((label, i) => { label.textContent = this.look.labels[order[i] % columns]; this.#place(label, order[columns * (rows - 1) + i]); });
    [...this.rows.children].forEach((label, i) => { label.textContent = this.name(order[columns * i]).slice(1); this.#place(label, order[columns * i]); });
  }

  // Hexagons, and the labels of their rows and files, are placed one by one.
  #place(element, square) {
    const [x, y] = this.#centre(square);
    element.style.setProperty("--x", x);
    element.style.setProperty("--y", y);
  }

  // The moves of a click on this square; pieces that drop can be played anywhere in their column.
  #movesTo(square) {
    const away = this.info?.drops ? this.shape[1] : this.shape[0] * this.shape[1];
    return this.moves.filter(([, squares]) => (squares.length === 1 ? (squares[0] - square) % away === 0 : this.from !== null && squares[0] === this.from && squares.at(-1) === square));
  }

  // Play one of these moves, which have the same squares: ask which, if there are several.
  #choose(moves) {
    if (moves.length < 2) return this.chosen(moves[0][0]);
    const close = (name) => { this.asking.close(); if (name) this.chosen(name); };
    const drawn = (k) => k !== null && { class: "figure", style: { "--figure": `url(${this.look.figures[k][1][this.position.to_move]})` } };
    const item = ([name, , , usual, k]) => button(k === null ? usual : T.one(this.look.figures[k][0]), () => close(name), drawn(k));
    this.asking.replaceChildren(el("p", {}, T.which), el("div", { class: "buttons" }, moves.map(item), button(T.cancel, () => close(null))));
    this.asking.showModal();
  }

  #draw(square) {
    const made = this.squares[square], what = this.position?.board[square] ?? ".";
    const key = what === "0" || what === "1" ? Number(what) : null;
    const badges = this.look.badges.filter((_, i) => this.position?.badges?.[i]?.includes(square));
    const figure = key !== null && this.look.figures.find((_, i) => this.position?.figures?.[i]?.includes(square));
    const label = this.position?.labels?.[square] ?? "", drawn = `${what} ${figure && figure[0]} ${badges.map(([name]) => name)} ${label}`;
    if (made.drawn !== drawn || made.look !== this.look) {
      const pictures = [...(key === null ? [] : [figure ? figure[1][key] : this.look.pieces[key]]), ...badges.map(([, url]) => url)];
      made.replaceChildren(...pictures.map((src) => el("img", { src, alt: "", draggable: false })), label && el("span", { class: "count" }, label));
      made.drawn = drawn;
      made.look = this.look;
    } else made.querySelector(".value")?.remove();
    const dark = ((square % this.shape[1]) + Math.floor(square / this.shape[1])) % 2 === 0;
    const isFrom = this.moves.some(([, squares]) => squares.length > 1 && squares[0] === square);
    const aimed = this.#movesTo(square)[0], move = aimed?.[1].at(-1) === square && aimed;
    const marked = this.position?.marks.includes(square), hinted = this.hint.includes(square);
    const value = this.values.get(square), free = what === ".";
    made.className = ["square", dark ? "dark" : "light", what === "#" && "hole", move && "legal", isFrom && "movable", this.from === square && "selected", marked && "marked", hinted && "hinted", value && !free && "valued"].filter(Boolean).join(" ");
    if (value) {
      made.style.setProperty("--share", value.share);
      if (free) made.append(el("span", { class: `value ${value.best ? "best" : ""}` }, value.text));
    }
    const piece = key === null ? (what === "#" ? T.hole : T.empty) : this.info.sides[key];
    const things = [...[...badges, ...(figure ? [figure] : [])].map(([badge]) => T.one(badge)), label];
    const notes = [
      move && (move[1].length > 1 ? T.target : T.legal), move && move[2].length && (this.info.turns ? T.turns : T.takes)(move[2].length),
      isFrom && this.from !== square && T.movable, this.from === square && T.selected, aimed && !move && T.dropsTo(this.name(aimed[1][0])), marked && T.lastMove, hinted && T.hinted, value && value.text,
    ];
    made.setAttribute("aria-label", T.square(this.name(square), [key === null && (things.some(Boolean) || (move && free && move[1].length === 1)) ? "" : piece, ...things].filter(Boolean).join(" "), notes));
    made.setAttribute("aria-disabled", String(!(aimed || isFrom || this.editing)));
  }

  // Show which pieces the move to a square would turn over or capture, and where a piece would drop.
  #preview(square = this.pointed) {
    this.pointed = square;
    const [, squares = [], lost = []] = (square !== null && this.#movesTo(square)[0]) || [];
    for (const made of this.squares) {
      made.classList.toggle("lost", lost.includes(Number(made.dataset.square)));
      made.classList.toggle("aimed", this.info.drops && squares[0] === Number(made.dataset.square));
    }
  }

  // Animate pieces that move and discs that turn.
  #animate(before, after) {
    if (still.matches) return;
    for (const side of "01") {
      const came = [], left = [];
      for (let s = 0; s < after.length; s++) {
        if (after[s] === side && before[s] !== side) came.push(s);
        if (before[s] === side && after[s] !== side) left.push(s);
      }
      if (came.length === 1 && left.length === 1) {
        const [[x, y], [u, v]] = [this.#centre(left[0]), this.#centre(came[0])];
        for (const image of this.squares[came[0]].querySelectorAll("img")) image.animate([{ transform: `translate(${100 * (x - u)}%, ${100 * (y - v)}%)`, zIndex: 3 }, { transform: "none", zIndex: 3 }], SLIDE);
      } else if (this.info.drops && came.length === 1) {
        const [, v] = this.#centre(came[0]);
        for (const image of this.squares[came[0]].querySelectorAll("img")) image.animate([{ transform: `translateY(${-100 * (v + 0.5)}%)`, zIndex: 3 }, { transform: "none", zIndex: 3 }], FALL);
      } else {
        for (const s of came.filter((square) => before[square] === (side === "0" ? "1" : "0"))) {
          const image = this.squares[s].querySelector("img"), old = el("img", { src: this.look.pieces[1 - Number(side)], alt: "", class: "old" });
          this.squares[s].append(old);
          old.animate([{ transform: "scaleX(1)" }, { transform: "scaleX(0)", offset: 0.5 }, { transform: "scaleX(0)" }], TURN).finished.then(() => old.remove(), () => old.remove());
          image?.animate([{ transform: "scaleX(0)" }, { transform: "scaleX(0)", offset: 0.5 }, { transform: "scaleX(1)" }], TURN);
        }
      }
    }
  }

  #click(square) {
    if (this.editing) return this.edited(square);
    const moves = this.#movesTo(square);
    if (moves.length) return this.#choose(moves);
    const can = this.moves.some(([, squares]) => squares.length > 1 && squares[0] === square);
    this.from = can && this.from !== square ? square : null;
    for (let s = 0; s < this.#size; s++) this.#draw(s);
    this.picked();
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
    if (!step || this.byPointer || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.order.indexOf(this.focused), [rows, columns] = this.shape;
    const [x, y] = [(at % columns) + step[0], Math.floor(at / columns) + step[1]];
    if (x >= 0 && x < columns && y >= 0 && y < rows) this.squares[this.order[columns * y + x]].focus();
  }
}
