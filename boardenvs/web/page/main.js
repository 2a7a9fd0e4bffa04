// The page: the board beside the current view.

import * as address from "./address.js";
import { AnalyseView } from "./analyse.js";
import { Board } from "./board.js";
import { Connection } from "./connection.js";
import { button, choice, copy, el, keepingFocus, labelled, say, sayTo } from "./dom.js";
import { moveList } from "./moves.js";
import { NewGame } from "./newgame.js";
import { PlayView, rulesOf } from "./play.js";
import { RecordsView } from "./records.js";
import { RunsView } from "./runs.js";
import { Table } from "./table.js";
import { T } from "./texts.js";

const FIRST = ["othello", null, ["human", "level:4"]]; // the first game of a new user
const RANDOM = 6; // moves at the start of games between policies
const HELD = 150; // milliseconds: faster steps are one entry in the browser's history

class App {
  constructor() {
    this.connection = new Connection();
    this.table = new Table(this.connection);
    this.view = "play";
    this.hinted = [];
    this.board = new Board({ chosen: (move) => this.play(move), edited: (square) => this.#placed(square), picked: () => this.render() });
    this.newGame = new NewGame(this);
    this.play_ = new PlayView(this);
    this.analysis = new AnalyseView(this);
    this.records = new RecordsView(this);
    this.runs = new RunsView(this);
    this.views = { play: this.play_, analyse: this.analysis, records: this.records, runs: this.runs };
    this.#build();
    this.table.addEventListener("change", ({ detail }) => this.#changed(detail));
    this.connection.addEventListener("open", () => this.#connected());
    this.connection.addEventListener("lost", () => this.#lost());
    document.addEventListener("keydown", (event) => this.#key(event));
    addEventListener("popstate", ({ state }) => {
      if (location.hash.startsWith("#token=")) this.connection.start();
      if (location.hash.length > 1 && location.hash !== this.address) this.#openAddress(state).catch((error) => this.table.fail(error));
    });
    this.connection.start();
  }

  #build() {
    const { table } = this;
    this.tabs = Object.fromEntries(Object.entries(T.views).map(([view, text]) => [view, button(text, () => this.setView(view))]));
    this.banner = el("p", { class: "banner", role: "status" }, T.connecting);
    this.caption = el("p", { class: "caption", id: "caption" });
    this.counts = el("p", { class: "counts" });
    this.bar = el("div", { class: "bar", role: "img", hidden: true }, el("div", { class: "first" }));
    this.note = el("p", { class: "note" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.pass = el("div", { class: "buttons" });
    this.typed = el("input", { type: "text", spellcheck: false, autocomplete: "off", autocapitalize: "none", maxLength: 20, size: 8 });
    this.typedField = labelled(T.typeMove, this.typed, " ");
    this.form = el("form", { class: "typed", onsubmit: (event) => { event.preventDefault(); this.#typedMove(); } }, this.typedField, el("button", { type: "submit" }, T.playMove));
    const step = (label, text, plies) => button(text, () => table.step(plies), { "aria-label": label, title: label });
    this.steps = el("div", { class: "buttons steps" }, step(T.first, "|◀", -Infinity), step(T.previous, "◀", -1), step(T.next, "▶", 1), step(T.last, "▶|", Infinity),
      button(T.flip, () => { this.board.flip(); this.render(); }));
    this.format = choice(T.formats, "jsonl", () => {});
    this.moves = el("div", { class: "movelist", tabIndex: 0, role: "region", "aria-label": T.moves });
    this.side = el("div", { class: "side" });
    this.place = el("div", { class: "place" }, this.bar, this.board.element, this.steps);
    this.#steppedByHand();
    this.status = el("div", { class: "status" }, this.caption, this.counts, this.note, this.problem, this.pass);
    this.notation = el("section", { class: "notation", "aria-label": T.moves }, this.moves, this.form,
      el("div", { class: "buttons" }, button(T.copyLink, () => this.#copyLink()), button(T.copyMoves, () => this.#copied(table.tree.end.path.slice(1).map((node) => table.nameOf(node)).join(" "))), button(T.copyPicture, () => this.#copyPicture())),
      el("details", {}, el("summary", {}, T.keep),
        el("div", { class: "buttons saving" }, labelled(T.format, this.format), button(T.save, () => this.save()))));
    this.rules = el("dialog", { class: "rules", "aria-labelledby": "rules-title" });
    this.main = el("main", { hidden: true }, this.place, this.status, this.side);
    document.body.replaceChildren(
      el("a", { class: "skip", href: "#", onclick: (event) => { event.preventDefault(); this.board.squares[this.board.focused].focus(); } }, T.skip),
      el("header", {}, el("h1", {}, T.title), el("nav", { "aria-label": T.viewsLabel }, Object.values(this.tabs))), this.banner, this.main, this.newGame.element, this.rules);
    sayTo(document.body);
  }

  async #connected() {
    const { hello } = this.connection;
    this.newGame.welcome(hello);
    this.records.welcome(hello);
    this.banner.hidden = true;
    try {
      if (this.table.tree) {
        say(T.back);
        if (!this.table.position) await this.table.goTo(this.table.node);
        this.table.problem = "";
        this.render();
        this.table.turn();
      } else await this.#begin();
    } catch (error) {
      if (!this.table.tree) {
        this.#choose("play");
        await this.table.newGame(...FIRST).catch(() => {});
      }
      this.table.fail(error);
    }
    this.main.hidden = !this.table.tree;
  }

  async #begin() {
    const kept = Table.kept();
    if (location.hash.length > 1 && location.hash !== kept?.hash) return this.#openAddress();
    this.#choose(kept?.view ?? "play");
    if (kept) await this.table.restore(kept);
    else await this.table.newGame(...FIRST);
  }

  #lost() {
    const { token, stranger } = this.connection;
    this.banner.textContent = !token ? T.noToken : stranger ? T.stranger : this.table.tree ? T.lost : T.connecting;
    this.banner.hidden = false;
    this.table.abort();
    if (this.table.tree) this.render();
  }

  // ---- addresses

  // An entry of the history (`state` is set) is in the current game; a link opens a game of its own.
  async #openAddress(state = null) {
    const { table } = this, told = address.read(location.hash);
    this.address = location.hash;
    history.replaceState({}, "", this.address);
    this.opening = true;
    this.edit(false);
    try {
      const { tree } = table;
      const end = state && tree?.info.text === told.game && tree.start === told.start ? tree.find(told.moves) : null;
      const from = end?.path[Math.min(told.ply, end.ply)], node = end && tree.find([...from.path.slice(1).map((one) => one.move), ...told.tried]);
      if (node) {
        table.seats = told.seats;
        await table.goTo(node);
      } else if (!state && told.view === "play" && !told.moves.length) await this.#openLesson(told);
      else {
        await table.openGame(told);
        if (told.tried.length) await table.tryLine(table.node, told.tried, told.tried.length);
      }
      this.setView(told.view);
    } finally {
      this.opening = false;
      this.main.hidden = !table.tree;
    }
  }

  // A game that begins here, whose rules are shown first.
  async #openLesson({ game, start, seats, level }) {
    const { table, connection, rules } = this;
    for (const agent of seats) if (agent !== "human") await connection.request({ do: "agent", game, agent });
    this.#choose("play");
    await table.newGame(game, start, seats);
    if (level && table.position.to_move) table.seat(seats.toReversed());
    this.faceUser();
    rules.replaceChildren(el("h2", { id: "rules-title" }, T.rulesOf(table.info.name)), ...rulesOf(table.info), el("p", {}, this.play_.players.textContent), el("div", { class: "buttons" }, button(T.begin, () => rules.close(), { class: "main" })));
    rules.showModal();
    rules.scrollTop = 0;
  }

  // The user's side is at the bottom in games whose sides have a direction.
  faceUser() {
    const { tree, seats } = this.table;
    this.board.flipped = tree.root.position.legal.some(([, squares]) => squares.length > 1) && seats[0] !== "human" && seats[1] === "human";
    this.render();
  }

  // Every position has an address. An agent's reply shares the entry of the move before it, and fast
  // steps share one.
  #keepAddress(by) {
    const { table } = this, text = address.write({ tree: table.tree, seats: table.seats, view: this.view });
    const about = this.view === "runs" ? [] : [T.capital(table.caption()), table.info.name];
    document.title = T.pageTitle(...about, T.views[this.view]);
    if (text === this.address) return;
    const now = performance.now(), held = by === "step" && now - this.written < HELD;
    history[!this.address || this.opening || by === "reply" || held || table.watched ? "replaceState" : "pushState"]({}, "", text);
    this.address = location.hash;
    this.written = now;
  }

  async #copyLink() {
    const { token, hello } = this.connection, url = new URL(location.href.replace("#", `#token=${token}&`));
    if (hello.host) url.hostname = hello.host; // by which others on the network know this machine
    this.#copied(url.href, hello.host ? T.copiedLink : T.copiedOwnLink);
  }

  async #copied(text, message = T.copied) {
    this.table.message = (await copy(text)) ? message : T.copyThis(text);
    say(this.table.message);
    this.render();
  }

  // ---- files

  async save() {
    const { table } = this, { tree } = table;
    const { end } = tree, { players, info, goals } = this.#told(end), resigned = table.side(tree.resigned(end));
    const wanted = { format: this.format.value, line: tree.line(end), players, info: resigned ? { ...info, resigned } : info, goals };
    const path = end.path, analysed = wanted.format === "page" && path.some((node) => node.explanation);
    if (analysed) Object.assign(wanted, { notes: path.map((node) => this.analysis.noteOf(node)), curve: path.map((node) => this.analysis.shareOf(node)), marks: path.map((node) => this.analysis.mark(node)) });
    const file = await this.connection.request({ do: "save", ...wanted }).catch((error) => table.fail(error));
    if (file) this.#download(file);
  }

  #download(file) {
    const content = Uint8Array.from(atob(file.content), (character) => character.charCodeAt(0));
    const link = el("a", { href: URL.createObjectURL(new Blob([content])), download: file.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // The board as a PNG in the clipboard, or as an SVG file where the browser does not allow that.
  async #copyPicture() {
    const { table, connection } = this;
    const file = await connection.request({ do: "save", format: "svg", line: table.tree.line() }).catch((error) => table.fail(error));
    if (!file) return;
    try {
      const image = el("img", { src: `data:image/svg+xml;base64,${file.content}` }), canvas = el("canvas");
      await image.decode();
      Object.assign(canvas, { width: 2 * image.naturalWidth, height: 2 * image.naturalHeight });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      const png = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
      await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
      table.message = T.copied;
    } catch {
      this.#download(file);
      table.message = T.savedPicture;
    }
    say(table.message);
    this.render();
  }

  // Players and facts of the game that ends at this node.
  #told(end) {
    const { tree: { record }, seats } = this.table;
    if (record?.end === end) return record;
    const agents = seats.some((seat) => seat !== "human") ? seats : null;
    return { players: record?.players ?? agents, info: {}, goals: null };
  }

  // ---- views

  #choose(view, watched = null) {
    this.view = this.table.view = view;
    this.table.watched = watched;
    for (const [name, tab] of Object.entries(this.tabs)) {
      if (name === view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    this.side.replaceChildren(this.views[view].element, ...(view === "runs" ? [] : [this.notation]), this.views[view].extra ?? "");
    document.body.className = watched ? `${view} watching` : view;
  }

  setView(view) {
    if (!this.table.tree) return;
    if (view !== "play") this.edit(false);
    if (view !== this.view) this.table.message = this.table.problem = "";
    this.#choose(view);
    if (view !== "play") this.table.abort();
    if (view === "runs") this.runs.refresh();
    if (view === "records") this.records.render();
    this.table.changed();
    this.table.turn();
  }

  // Analyse the position, or the whole game if it is over.
  analyse() {
    this.setView("analyse");
    if (this.table.over) this.analysis.review();
    else this.analysis.run();
  }

  // Whether the current game may end for another one.
  mayLeave() {
    return !this.table.running || confirm(T.leave(this.table.position.number));
  }

  async playAgainst(game, policy) {
    if (!this.mayLeave()) return;
    this.#choose("play");
    await this.table.newGame(game, null, ["human", policy]).catch((error) => this.table.fail(error));
  }

  // The latest policy of a training plays the one before it, game after game.
  watch({ game, latest, before }) {
    if (!this.mayLeave()) return;
    this.#choose("runs", { latest, won: 0, games: 0, counted: null });
    this.#watchGame(game, [latest, before]).then(() => this.toBoard());
  }

  // Games begin with random moves, so that they differ.
  async #watchGame(game, seats) {
    const { table } = this;
    await table.newGame(game, null, ["human", "human"]).catch((error) => table.fail(error));
    for (let ply = 0; ply < RANDOM && table.open; ply++) await table.play(table.position.legal[Math.floor(Math.random() * table.position.legal.length)][0]);
    if (table.watched) table.seat(seats);
  }

  #countWatched() {
    const { table } = this, { watched, node } = table;
    if (!watched || !table.agentsOnly || !node.position?.over || watched.counted === node) return;
    watched.counted = node;
    watched.games++;
    if (node.position.goals[table.seats.indexOf(watched.latest)] === 100) watched.won++;
    setTimeout(() => { if (table.watched === watched) this.#watchGame(table.info.text, [...table.seats].reverse()); }, 2000);
  }

  // ---- moves

  play(move) {
    if (this.analysis.answered(move)) return this.render();
    this.hinted = [];
    this.board.point();
    return this.table.play(move);
  }

  #typedMove() {
    const { table } = this, given = this.typed.value.trim(), text = given.toLowerCase();
    if (!text) return;
    const plain = (written) => written.replace(/[+#=!?]/g, "").replaceAll("0", "O");
    const name = text.replace(/\s*[x–→ ]\s*/g, "-"), position = table.position;
    const move = position.legal.find(([m]) => m === name || m.replace("-", "") === name) ?? position.legal.find(([, , , usual]) => plain(usual) === plain(given));
    if (!table.open) table.problem = table.over ? table.caption() : T.notYourTurn(table.side(position.to_move));
    else if (!move) table.problem = T.noSuchMove(text, position.legal.map(([, , , usual]) => usual).join(" "));
    else {
      this.typed.value = "";
      return this.play(move[0]);
    }
    say(table.problem);
    this.render();
  }

  async hint() {
    const { table, connection } = this, node = table.node, agent = table.info.advisor;
    try {
      const { explanation } = await connection.request({ do: "explain", line: table.tree.line(), agent, seconds: 2 });
      if (table.node !== node) return;
      const best = explanation.moves.find((move) => move.move === explanation.choice) ?? explanation.moves[0];
      this.hinted = best.squares;
      this.hintNode = node;
      table.message = T.hintIs(best.usual[0]);
      say(table.message);
      this.render();
    } catch (error) {
      table.fail(error);
    }
  }

  // ---- editing positions

  edit(on) {
    this.board.editing = on;
    const { position } = this.table;
    this.edited = on ? { board: position.board, badges: position.badges.slice(0, this.table.info.placed.length), to_move: position.to_move } : null;
    this.play_.editing.checked = on;
    if (this.table.tree) this.render();
  }

  editedSide(role) {
    if (!this.edited) this.edit(true);
    this.edited.to_move = role;
    this.#writeEdited();
  }

  // Put the next kind of piece on a square: each side's, without and with each badge of a kind.
  #placed(square) {
    const board = [...this.edited.board], had = this.edited.badges.findIndex((squares) => squares.includes(square));
    const badges = this.edited.badges.map((squares) => squares.filter((other) => other !== square));
    if (board[square] === "#") return;
    if (board[square] !== "." && had + 1 < badges.length) badges[had + 1].push(square);
    else board[square] = { ".": "0", 0: "1", 1: "." }[board[square]];
    Object.assign(this.edited, { board: board.join(""), badges });
    this.#writeEdited();
  }

  #writeEdited() {
    const { sides, shape: [rows, columns], placed } = this.table.info, { board, badges, to_move } = this.edited;
    const ranks = Array.from({ length: rows }, (_, i) => board.slice(columns * (rows - 1 - i), columns * (rows - i)));
    const text = ranks.map((rank) => [...rank].map((c) => (c === "0" || c === "1" ? sides[Number(c)][0] : ".")).join("").replace(/\.+/g, (run) => String(run.length)));
    const rest = placed.map((name, i) => (badges[i].length ? ` ${name}=${badges[i].map((square) => this.board.name(square)).join(",")}` : ""));
    this.play_.position.value = `${text.join("/")} ${sides[to_move]} 0${rest.join("")}`;
    this.render();
  }

  // ---- drawing

  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || this.view === "runs" || !this.table.tree) return;
    if (event.target.closest?.("input, select, textarea, dialog")) return;
    event.preventDefault();
    this.table.step(step);
  }

  // The wheel over the board, where the page does not scroll, and swipes step through the game.
  #steppedByHand() {
    const { table, place } = this, still = () => document.scrollingElement.scrollHeight <= innerHeight + 1;
    let turned = 0, touch = null;
    place.addEventListener("wheel", (event) => {
      if (event.ctrlKey || !still() || !table.tree) return;
      event.preventDefault();
      turned += event.deltaMode ? 40 * event.deltaY : event.deltaY;
      if (Math.abs(turned) < 40) return;
      table.step(Math.sign(turned));
      turned = 0;
    }, { passive: false });
    place.addEventListener("touchstart", ({ touches, target }) => { touch = touches.length === 1 && !target.closest(".movable") ? touches[0] : null; }, { passive: true });
    place.addEventListener("touchend", ({ changedTouches: [end] }) => {
      const [x, y] = touch ? [end.clientX - touch.clientX, end.clientY - touch.clientY] : [0, 0];
      if (Math.abs(x) > 50 && Math.abs(y) < Math.abs(x) / 2) table.step(x < 0 ? 1 : -1);
    });
  }

  // After a choice in a list, on a phone, where the board is above it, and what is said above the board.
  toBoard() { (this.status.offsetTop < this.place.offsetTop ? this.status : this.place).scrollIntoView({ block: "nearest" }); }

  #changed(by) {
    const { table } = this;
    this.#countWatched();
    this.render();
    if (table.tree && table.position) this.#keepAddress(by);
  }

  render() {
    const { table, board } = this;
    if (!table.tree || !table.position) return;
    const { info, position } = table, editing = this.edited;
    const shown = editing ? { ...position, ...editing, legal: [], marks: [] } : position;
    if (this.hintNode !== table.node) this.hinted = [];
    const show = (values) => board.show(info, shown, { legal: table.open && !editing, values, hint: this.hinted });
    show(editing ? new Map() : this.analysis.values(position === board.position ? board.from : null));
    this.main.hidden = false;
    this.caption.textContent = table.caption();
    const counts = position.standing.map((has, i) => T.pieces(table.side(i), has));
    if (info.limit) counts.push(T.plyOf(position.ply, info.limit));
    const opening = table.node.path.findLast((node) => node.position?.opening);
    this.counts.textContent = counts.join(" · ") + this.#change() + (opening ? ` · ${T.opening(opening.position.opening)}` : "");
    this.#bar();
    this.note.textContent = table.watched ? T.watched(table.side(table.seats.indexOf(table.watched.latest)), table.watched.won, table.watched.games) : table.thinking ? T.thinking(this.newGame.nameOf(table.thinking)) : table.message || this.analysis.note || (this.#mustPass() ? T.mustPass(table.side(position.to_move)) : this.#whoseTurn());
    this.problem.textContent = table.problem;
    this.form.hidden = table.over || Boolean(editing); // it stays while an agent thinks, and keeps the focus
    const passes = this.form.hidden ? [] : position.legal.filter(([, squares]) => !squares.length);
    const aside = table.tree.branch !== table.node && !this.analysis.asking;
    keepingFocus(this.pass, () => this.pass.replaceChildren(...passes.map(([name]) => button(T.capital(name), () => this.play(name), { class: "main", disabled: !table.open })),
      ...(aside ? [button(T.leaveLine, () => table.goTo(table.tree.branch)), button(T.adoptLine, () => table.adopt())] : [])), board.squares[board.focused]);
    const example = position.legal.find(([, squares]) => squares.length)?.[3];
    this.typedField.querySelector("small").textContent = example ? T.typeMoveHelp(example) : "";
    if (this.shown !== table.node) [this.shown, this.typed.value] = [table.node, ""];
    keepingFocus(this.moves, () => this.moves.replaceChildren(moveList(table, (node) => this.analysis.mark(node))));
    const current = this.moves.querySelector("[aria-current]");
    if (current) this.moves.scrollTop = current.offsetTop - this.moves.clientHeight / 2;
    this.views[this.view].show?.();
  }

  #mustPass() { return this.table.open && this.table.position.legal.every(([, squares]) => !squares.length); }

  #whoseTurn() {
    const { table } = this;
    if (table.over || this.view !== "play") return "";
    if (table.open) return table.agentsOnly ? "" : T.yourTurn;
    return table.paused ? T.paused : "";
  }

  // How many pieces the last move turned over or captured.
  #change() {
    const { node } = this.table, move = node.parent?.position?.legal.find(([name]) => name === node.move);
    if (!move?.[2].length) return "";
    return this.table.info.turns ? T.flipped(move[2].length) : T.captured(move[2].length);
  }

  #bar() {
    const part = this.analysis.shareOf(this.table.node), side = this.table.side(0);
    this.bar.hidden = this.view !== "analyse";
    this.bar.style.visibility = this.analysis.asking ? "hidden" : "";
    this.bar.style.setProperty("--share", part ?? 0.5);
    this.table.info.look.shades.forEach((shade, i) => this.bar.style.setProperty(`--shade-${i}`, shade));
    this.bar.setAttribute("aria-label", part === null ? T.noValue : `${T.valueFor(side)}: ${this.analysis.textOf(this.table.node)}`);
    this.bar.dataset.text = part === null ? "" : this.analysis.textOf(this.table.node).replace(" ", "");
  }
}

new App();
