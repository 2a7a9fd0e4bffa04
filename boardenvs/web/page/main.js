// The page: the board beside the view that is chosen.

import { AnalyseView } from "./analyse.js";
import { Board } from "./board.js";
import { Connection } from "./connection.js";
import { button, choice, copy, el, labelled, say, sayTo } from "./dom.js";
import { moveList } from "./moves.js";
import { PlayView } from "./play.js";
import { RecordsView } from "./records.js";
import { RunsView } from "./runs.js";
import { Table } from "./table.js";
import { T } from "./texts.js";
import { turned } from "./tree.js";

class App {
  constructor() {
    this.connection = new Connection();
    this.table = new Table(this.connection);
    this.view = "play";
    this.hinted = [];
    this.board = new Board({ chosen: (move) => this.play(move), edited: (square) => this.#placed(square) });
    this.shown = (name) => (this.tournament ? turned(name) : name);
    this.table.shown = this.shown;
    this.play_ = new PlayView(this);
    this.analysis = new AnalyseView(this);
    this.records = new RecordsView(this);
    this.runs = new RunsView(this);
    this.views = { play: this.play_, analyse: this.analysis, records: this.records, runs: this.runs };
    this.#build();
    this.table.addEventListener("change", () => this.render());
    this.connection.addEventListener("open", () => this.#connected());
    this.connection.addEventListener("lost", () => this.#lost());
    document.addEventListener("keydown", (event) => this.#key(event));
    addEventListener("hashchange", () => { if (location.hash.length > 1) this.#openLink(); });
    this.connection.start();
  }

  get tournament() { return this.turnedNames?.checked && this.table.tree?.info.tournament; }

  #build() {
    const { table } = this;
    this.tabs = Object.fromEntries(Object.entries(T.views).map(([view, text]) => [view, button(text, () => this.setView(view))]));
    this.banner = el("p", { class: "banner", role: "status" }, T.connecting);
    this.caption = el("p", { class: "caption", id: "caption" });
    this.counts = el("p", { class: "counts" });
    this.bar = el("div", { class: "bar", role: "img" }, el("div", { class: "first" }));
    this.note = el("p", { class: "note" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.pass = button(T.pass, () => this.#pass(), { class: "main", hidden: true });
    this.typed = el("input", { type: "text", spellcheck: false, autocomplete: "off", autocapitalize: "none", maxLength: 20, size: 8 });
    this.typedField = labelled(T.typeMove, this.typed, " ");
    this.form = el("form", { class: "typed", onsubmit: (event) => { event.preventDefault(); this.#typedMove(); } }, this.typedField, el("button", { type: "submit" }, T.playMove), this.pass);
    const step = (label, text, plies) => button(text, () => table.step(plies), { "aria-label": label, title: label });
    this.steps = el("div", { class: "buttons steps" }, step(T.first, "|◀", -1e6), step(T.previous, "◀", -1), step(T.next, "▶", 1), step(T.last, "▶|", 1e6), button(T.flip, () => { this.board.flip(); this.render(); }));
    this.turnedNames = el("input", { type: "checkbox", id: "turned", onchange: () => this.render() });
    this.turnedLabel = el("label", { htmlFor: "turned", class: "check" }, this.turnedNames, ` ${T.tournamentNames}`);
    this.format = choice(T.formats, "jsonl", () => {});
    this.moves = el("div", { class: "movelist", tabIndex: 0, role: "region", "aria-label": T.moves });
    this.side = el("div", { class: "side" });
    this.place = el("div", { class: "place" }, this.caption, this.counts, this.bar, this.board.element, this.note, this.problem, this.form, this.steps, this.turnedLabel);
    this.notation = el("section", { "aria-label": T.moves }, el("h2", {}, T.moves), this.moves,
      el("div", { class: "buttons saving" }, labelled(T.format, this.format), button(T.save, () => this.save()), button(T.copyLink, () => this.#copyLink())));
    this.main = el("main", { hidden: true }, this.place, this.side);
    document.body.replaceChildren(
      el("a", { class: "skip", href: "#", onclick: (event) => { event.preventDefault(); this.board.squares[this.board.focused].focus(); } }, T.skip),
      el("header", {}, el("h1", {}, T.title), el("nav", { "aria-label": T.viewsLabel }, Object.values(this.tabs))), this.banner, this.main);
    sayTo(document.body);
  }

  async #connected() {
    const { hello } = this.connection;
    this.play_.welcome(hello);
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
      if (!this.table.tree) await this.table.newGame("othello", null, ["human", "trained"]).catch(() => {});
      this.table.fail(error);
    }
    this.main.hidden = !this.table.tree;
  }

  async #begin() {
    if (location.hash.length > 1) return this.#openLink();
    const kept = Table.kept();
    this.#choose(kept?.view ?? "play");
    if (kept) await this.table.restore(kept);
    else await this.table.newGame("othello", null, ["human", "trained"]);
    return this.main.hidden = false;
  }

  #lost() {
    this.banner.textContent = this.table.tree ? T.lost : T.connecting;
    this.banner.hidden = false;
    this.table.abort();
    if (this.table.tree) this.render();
  }

  // "#game=othello&moves=e3+f3&ply=1"
  async #openLink() {
    const link = new URLSearchParams(location.hash.slice(1));
    history.replaceState(null, "", location.pathname);
    const moves = (link.get("moves") ?? "").split(" ").filter(Boolean);
    try {
      await this.table.openGame({ game: link.get("game") ?? "othello", start: link.get("start"), moves, ply: Number(link.get("ply") ?? moves.length) });
      this.setView("analyse");
    } finally {
      this.main.hidden = !this.table.tree;
    }
  }

  async #copyLink() {
    const { tree, node } = this.table;
    const moves = tree.line(tree.mainLine().at(-1)).moves;
    const link = new URLSearchParams({ game: tree.info.text, moves: moves.join(" "), ply: node.ply });
    if (tree.start) link.set("start", tree.start);
    const text = `${location.origin}${location.pathname}#${link}`;
    const done = await copy(text);
    this.table.message = done ? T.copied : T.copyThis(text);
    say(this.table.message);
    this.render();
  }

  async save() {
    const { table } = this, { tree } = table;
    const end = tree.mainLine().at(-1), { players, info, goals } = this.#told(end);
    const wanted = { format: this.format.value, line: tree.line(end), players, info, goals, resigned: tree.resigned(end) };
    const answer = await fetch("save", { method: "POST", body: JSON.stringify(wanted) }).catch((error) => table.fail(error));
    if (!answer) return;
    if (!answer.ok) return table.fail(new Error((await answer.json().catch(() => ({ error: answer.statusText }))).error));
    const name = answer.headers.get("content-disposition").match(/filename="(.*)"/)[1];
    const link = el("a", { href: URL.createObjectURL(await answer.blob()), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // What is known of the game that ends at this node beside its moves.
  #told(end) {
    const { tree: { record }, seats } = this.table;
    if (record?.end === end) return record;
    const agents = seats.some((seat) => seat !== "human") ? seats : null;
    return { players: record?.players ?? agents, info: {}, goals: null };
  }

  #choose(view) {
    this.view = this.table.view = view;
    for (const [name, tab] of Object.entries(this.tabs)) {
      if (name === view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    this.side.replaceChildren(this.views[view].element, ...(view === "runs" ? [] : [this.notation]));
    this.main.className = view;
  }

  setView(view) {
    if (view !== "play") this.edit(false);
    this.#choose(view);
    if (view !== "play") this.table.abort();
    if (view === "runs") this.runs.refresh();
    if (view === "records") this.records.render();
    this.table.changed();
    this.table.turn();
  }

  analyse() {
    this.setView("analyse");
    this.analysis.run();
  }

  play(move) {
    this.hinted = [];
    this.showLine(null);
    return this.table.play(move);
  }

  #pass() {
    const pass = this.table.position.legal.find((move) => move.length === 1);
    if (pass) this.play(pass[0]);
  }

  #typedMove() {
    const { table } = this, text = this.typed.value.trim().toLowerCase();
    if (!text) return;
    const name = this.shown(text.replace(/\s*[x–→ ]\s*/g, "-")), position = table.position;
    const move = position.legal.find((m) => m[0] === name || m[0].replace("-", "") === name);
    if (!table.open) table.problem = table.over ? this.table.caption() : T.notYourTurn(table.info.roles[position.to_move]);
    else if (!move) table.problem = T.noSuchMove(text, position.legal.map((m) => this.shown(m[0])).join(" "));
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
      table.message = T.hintIs(this.shown(best.move), agent);
      say(table.message);
      this.render();
    } catch (error) {
      table.fail(error);
    }
  }

  async playAgainst(game, policy) {
    this.setView("play");
    await this.table.newGame(game, null, ["human", policy]).catch((error) => this.table.fail(error));
  }

  // The moves of a line that an agent expects, drawn on the board.
  showLine(move) {
    if (!move) return this.board.line([]);
    const ends = move.line.map((name) => [...name.matchAll(/[a-h][1-8]/g)].map(([text]) => "abcdefgh".indexOf(text[0]) + 8 * (Number(text[1]) - 1)));
    this.board.line(ends.slice(0, 8));
  }

  edit(on) {
    this.board.editing = on;
    this.edited = on ? { board: this.table.position.board, to_move: this.table.position.to_move } : null;
    this.play_.editing.checked = on;
    if (this.table.tree) this.render();
  }

  editedSide(role) {
    if (!this.edited) this.edit(true);
    this.edited.to_move = role;
    this.#writeEdited();
  }

  #placed(square) {
    const board = [...this.edited.board];
    board[square] = { ".": "0", 0: "1", 1: ".", "#": "#" }[board[square]];
    this.edited.board = board.join("");
    this.#writeEdited();
  }

  #writeEdited() {
    const { roles } = this.table.info, { board, to_move } = this.edited;
    const text = [7, 6, 5, 4, 3, 2, 1, 0].map((y) => [...board.slice(8 * y, 8 * y + 8)].map((c) => (c === "0" || c === "1" ? roles[Number(c)][0] : ".")).join("").replace(/\.+/g, (run) => String(run.length)));
    this.play_.position.value = `${text.join("/")} ${roles[to_move]} 0`;
    this.render();
  }

  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || this.view === "runs" || !this.table.tree) return;
    if (event.target.closest?.("input, select, textarea, .grid")) return;
    event.preventDefault();
    this.table.step(step);
  }

  render() {
    const { table, board } = this;
    if (!table.tree || !table.position) return;
    const { info, position } = table, editing = this.edited;
    const shown = editing ? { ...position, board: editing.board, legal: [], marks: [] } : position;
    if (this.hintNode !== table.node) this.hinted = [];
    board.show(info, shown, { legal: table.open && !editing, badges: editing ? new Map() : this.analysis.badges(), hint: this.hinted, tournament: this.tournament });
    this.caption.textContent = table.caption();
    const counts = info.roles.map((role, i) => T.pieces(role, position.counts[i]) + (position.groups ? ` (${T.groups(position.groups[i])})` : ""));
    if (info.limit) counts.push(T.plyOf(position.ply, info.limit));
    this.counts.textContent = counts.join(" · ") + this.#change();
    this.#bar();
    this.note.textContent = table.thinking ? T.thinking(table.thinking) : table.message || (this.#mustPass() ? T.mustPass(info.roles[position.to_move]) : this.#whoseTurn());
    this.problem.textContent = table.problem;
    this.form.hidden = table.over || !table.open || Boolean(editing);
    this.pass.hidden = !position.legal.some((move) => move.length === 1);
    const example = position.legal.find((move) => move.length > 1)?.[0];
    this.typedField.querySelector("small").textContent = example ? T.typeMoveHelp(this.shown(example)) : "";
    this.turnedLabel.hidden = !info.tournament;
    this.moves.replaceChildren(moveList(table, this.shown, (node) => this.analysis.lost(node)));
    const current = this.moves.querySelector("[aria-current]");
    if (current) this.moves.scrollTop = current.offsetTop - this.moves.clientHeight / 2;
    this.views[this.view].show?.();
  }

  #mustPass() { return this.table.open && this.table.position.legal.every((move) => move.length === 1); }

  #whoseTurn() {
    const { table } = this;
    if (table.over || this.view !== "play") return "";
    if (table.open) return table.agentsOnly ? "" : T.yourTurn(table.info.roles[table.position.to_move]);
    return table.paused ? T.paused : "";
  }

  // What the last move turned over or took.
  #change() {
    const { node, position } = this.table, before = node.parent?.position;
    if (!before) return "";
    let [turnedOver, taken] = [0, 0];
    const loser = String(position.to_move);
    for (let s = 0; s < 64; s++) {
      if (before.board[s] !== loser || position.board[s] === loser) continue;
      if (this.table.info.moves_pieces) taken++;
      else turnedOver++;
    }
    return turnedOver ? T.flipped(turnedOver) : taken ? T.captured(taken) : "";
  }

  #bar() {
    const part = this.analysis.shareOf(this.table.node), role = this.table.info.roles[0];
    this.bar.hidden = part === null || this.view === "play" || this.view === "runs";
    if (part === null) return;
    this.bar.firstChild.style.width = `${100 * part}%`;
    this.bar.setAttribute("aria-label", `${T.valueFor(role)}: ${T.percent(part)}`);
    this.bar.dataset.text = `${role} ${T.percent(part)}`;
  }
}

new App();
