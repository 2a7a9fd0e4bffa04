// The view that looks inside an agent's head: the position's moves, and the whole game.

import { button, choice, el, labelled, say } from "./dom.js";
import { chart } from "./chart.js";
import { T } from "./texts.js";
import { share } from "./tree.js";

export const BLUNDER = 0.12; // of the share of a win

export class AnalyseView {
  constructor(app) {
    this.app = app;
    this.agent = el("input", { type: "text", list: "agents", spellcheck: false, autocomplete: "off", autocapitalize: "none", maxLength: 300 });
    this.agent.addEventListener("change", () => { this.chosen = true; this.check(); });
    this.seconds = el("input", { type: "number", min: 0.5, max: 60, step: 0.5, value: 5 });
    this.metric = choice(T.metrics, "value", () => app.render());
    this.job = null;
    this.analyse = button(T.analyse, () => this.run(), { class: "main" });
    this.exact = button(T.exact, () => this.run(app.table.info.solver));
    this.whole = button(T.analyseGame, () => this.review());
    this.stop = button(T.stop, () => this.cancel());
    this.problem = el("small", { class: "problem" });
    this.summary = el("p", { class: "summary" });
    this.moves = el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": T.analysis });
    this.graph = el("div");
    this.element = el("section", { "aria-label": T.views.analyse },
      el("div", { class: "buttons" }, this.analyse, this.whole, this.exact, this.stop),
      el("div", { class: "fields" }, labelled(T.advisor, this.agent), labelled(T.seconds, this.seconds), labelled(T.showOnBoard, this.metric)),
      this.problem, this.summary, this.moves, this.graph);
  }

  async check() {
    const text = this.agent.value.trim();
    this.problem.textContent = "";
    try {
      await this.app.connection.request({ do: "agent", game: this.app.table.info.text, agent: text });
      return text;
    } catch (error) {
      this.problem.textContent = error.message;
      return null;
    }
  }

  cancel() {
    this.job?.abort();
    this.job = null;
    this.render();
  }

  // Ask about the position on the board, better and better.
  async run(agent = null) {
    const { table, connection } = this.app, { tree, node } = table, exact = agent !== null;
    agent ??= await this.check();
    if (!agent || table.position.over) return;
    this.cancel();
    const job = (this.job = new AbortController());
    this.app.render();
    let error = null;
    try {
      await connection.request({ do: "explain", line: tree.line(node), agent, seconds: Math.min(60, Math.max(0.5, Number(this.seconds.value) || 5)) }, {
        signal: job.signal,
        part: ({ explanation }) => {
          // Who asks for the exact result gets no estimate in its place.
          const proven = exact && !explanation.proven ? { value: null, moves: explanation.moves.filter((move) => move.outcome) } : {};
          node.explanation = { ...explanation, ...proven, agent };
          if (table.node === node) this.app.render();
        },
      });
      const found = node.explanation;
      if (found && table.node === node) say(found.value === null ? T.notProven : `${found.moves[0].move}. ${T.value(found)}`);
    } catch (problem) {
      error = problem;
    }
    if (this.job === job) this.job = null;
    if (error) table.fail(error);
    this.app.render();
  }

  // Ask about every position of the game.
  async review() {
    const { table, connection } = this.app, { tree } = table;
    const agent = await this.check();
    if (!agent) return;
    this.cancel();
    const job = (this.job = new AbortController());
    const line = tree.mainLine();
    let done = 0;
    for (const node of line) node.review = null;
    try {
      await connection.request({ do: "review", line: tree.line(line.at(-1)), agent }, {
        signal: job.signal,
        part: ({ ply, explanation }) => {
          line[ply].review = { ...explanation, agent };
          line[ply].explanation ??= line[ply].review;
          this.progress = T.reviewing(++done, line.length);
          this.soon();
        },
      });
      say(this.blunders(line).length ? `${T.blunders}: ${this.blunders(line).length}` : T.noBlunders);
    } catch (error) {
      table.fail(error);
    }
    this.progress = null;
    if (this.job === job) this.job = null;
    this.app.render();
  }

  soon() {
    this.pending ??= requestAnimationFrame(() => { this.pending = null; this.app.render(); });
  }

  // What a move lost, as a share of a win: by the review of the position before it, but no more
  // than that of the position after it confirms, which looks a ply deeper.
  lost(node) {
    const seen = node.parent?.review, best = seen && share(seen.value, seen.unit);
    const played = seen && share(seen.moves.find((move) => move.move === node.move)?.value, seen.unit);
    if (best === null || best === undefined || played === null || played === undefined) return null;
    const first = node.review || node.position?.over ? this.shareOf(node) : null;
    const after = first === null ? played : node.parent.position.to_move ? 1 - first : first;
    return Math.max(0, best - Math.max(played, after));
  }

  blunders(line) {
    return line.filter((node) => (this.lost(node) ?? 0) >= BLUNDER);
  }

  // The share of a win of the first role, of a position that an agent has been asked about.
  shareOf(node) {
    const position = node.position;
    if (position?.over) return (position.goals[0]) / 100;
    const seen = node.review ?? node.explanation;
    const found = seen && share(seen.value, seen.unit);
    return found === null || found === undefined ? null : position?.to_move ? 1 - found : found;
  }

  badges() {
    const { table } = this.app, seen = table.node.explanation, found = new Map();
    if (!seen || this.app.view !== "analyse") return found;
    const metric = this.metric.value, from = this.app.board.from;
    seen.moves.forEach((move, index) => {
      if (!move.squares.length) return;
      if (move.squares.length > 1 && from !== null && move.squares[0] !== from) return;
      const square = move.squares.length > 1 && from === null ? move.squares[0] : move.squares.at(-1);
      const text = this.metricText(move, metric, seen.unit);
      if (text === null || found.has(square)) return;
      const width = metric === "value" ? share(move.value, seen.unit) : metric === "probability" ? move.probability : move.visits / Math.max(1, ...seen.moves.map((m) => m.visits ?? 0));
      found.set(square, { text, share: width ?? 0, best: index === 0 });
    });
    return found;
  }

  metricText(move, metric, unit) {
    const value = move[metric];
    if (value === null || value === undefined) return null;
    if (metric === "value") return T.number(value, unit);
    return metric === "probability" ? T.percent(value) : value.toLocaleString("en");
  }

  show() {
    const { table } = this.app;
    if (!this.chosen || this.game !== table.info.text) {
      this.agent.value = table.info.advisor;
      this.chosen = false;
      this.game = table.info.text;
    }
    this.render();
  }

  render() {
    const { table } = this.app, { node, info } = table, seen = node.explanation, role = info.roles[table.position.to_move];
    this.stop.hidden = !this.job;
    this.analyse.disabled = this.exact.disabled = table.position.over;
    const facts = [];
    if (table.position.over) facts.push(T.overPosition);
    else if (!seen) facts.push(T.noAnalysis);
    else {
      facts.push(seen.value === null ? seen.agent : `${seen.agent}: ${T.value(seen)} (${T.units[seen.unit]})`, T.working(seen.nodes, seen.seconds));
      facts.push(seen.proven ? T.proven(seen, role) : T.notProven);
    }
    if (this.progress) facts.push(this.progress);
    this.summary.textContent = facts.join(" · ");
    this.moves.hidden = !seen?.moves.length;
    if (seen?.moves.length) this.moves.replaceChildren(this.#table(seen));
    this.#graph();
  }

  #table(seen) {
    const { app } = this, best = seen.moves;
    const has = (key) => best.some((move) => move[key] !== null);
    const columns = ["value", "probability", "visits"].filter(has);
    const row = (move) => {
      const show = () => app.showLine(move);
      const hide = () => app.showLine(null);
      return el("tr", { onmouseenter: show, onmouseleave: hide },
        el("th", { scope: "row" }, button(app.shown(move.move), () => app.play(move.move), { onfocus: show, onblur: hide })),
        columns.map((key) => el("td", { class: "number" }, this.metricText(move, key, seen.unit) ?? "–")),
        el("td", { class: "line" }, move.line.map(app.shown).join(" ")));
    };
    return el("table", { class: "moves" },
      el("thead", {}, el("tr", {}, ["move", ...columns, "line"].map((key) => el("th", { scope: "col" }, T.headings[key])))),
      el("tbody", {}, best.map(row)));
  }

  #graph() {
    const { table } = this.app, line = table.tree.mainLine(), { info } = table;
    const points = line.map((node) => [node.ply, this.shareOf(node)]).filter(([, y]) => y !== null);
    const reviewed = line.some((node) => node.review);
    if (!reviewed || points.length < 2) return this.graph.replaceChildren();
    const blunders = this.blunders(line), roles = info.roles;
    const mover = (node) => node.parent.position.to_move;
    const list = blunders.map((node) => el("li", {}, button(
      T.blunder(node.ply, roles[mover(node)], this.app.shown(node.move), this.app.shown(node.parent.review.moves[0].move), this.lost(node)),
      () => table.goTo(node.parent), { class: "blunder" })));
    const summary = roles.map((role, i) => {
      const lost = line.slice(1).filter((node) => node.parent.position && mover(node) === i).map((node) => this.lost(node)).filter((x) => x !== null);
      const mean = lost.reduce((sum, x) => sum + x, 0) / (lost.length || 1);
      return el("li", {}, T.summary(role, mean, lost.filter((x) => x >= BLUNDER).length));
    });
    this.graph.replaceChildren(
      el("h3", {}, T.graph(roles[0])),
      chart({
        points, label: T.graph(roles[0]), xLabel: T.ply, range: [0, 1], baseline: 0.5, at: table.node.ply,
        yText: T.percent, marks: blunders.map((node) => ({ x: node.ply, y: this.shareOf(node) ?? 0.5, text: T.blunderMark })),
        click: (ply) => { const node = line[Math.max(0, Math.min(line.length - 1, Math.round(ply)))]; table.goTo(node); },
      }),
      el("p", { class: "help" }, T.graphHelp), el("ul", {}, summary),
      el("h3", {}, T.blunders), blunders.length ? el("ul", { class: "plain" }, list) : el("p", {}, T.noBlunders));
  }
}
