// The view of an agent's analysis of a position or of a whole game.

import { button, choice, el, labelled, say } from "./dom.js";
import { chart } from "./chart.js";
import { T } from "./texts.js";

// The least loss of each mark, as a share of a win; the first is for the best move.
const MARKS = [["best", 0], ["good", 0.005], ["inaccuracy", 0.05], ["mistake", 0.1], ["blunder", 0.15]];
const FOLLOWED = 1; // seconds for positions of a reviewed game's variations

export class AnalyseView {
  constructor(app) {
    this.app = app;
    this.agent = el("input", { type: "text", list: "agents", spellcheck: false, autocomplete: "off", autocapitalize: "none", maxLength: 300 });
    this.agent.addEventListener("change", () => { this.chosen = true; this.check(); });
    this.seconds = el("input", { type: "number", min: 0.5, max: 60, step: 0.5, value: 5 });
    this.metric = choice(T.metrics, "value", () => app.render());
    this.job = null;
    this.followed = new WeakSet();
    this.whole = button(T.analyseGame, () => this.review(), { class: "main" });
    this.analyse = button(T.analysePosition, () => this.run());
    this.exact = button(T.exact, () => this.run(app.table.info.solver));
    this.stop = button(T.stop, () => this.cancel());
    this.problem = el("small", { class: "problem" });
    this.summary = el("p", { class: "summary" });
    this.moves = el("div", { class: "scroll analysed", tabIndex: 0, role: "region", "aria-label": T.analysis });
    this.graph = el("div");
    this.wrong = el("div");
    this.element = el("section", { "aria-label": T.views.analyse },
      el("div", { class: "buttons" }, this.whole, this.analyse, this.exact, this.stop),
      this.problem, this.summary, this.graph, this.moves);
    this.extra = el("section", { "aria-label": T.blunders }, this.wrong,
      el("details", {}, el("summary", {}, T.analyst),
        el("div", { class: "fields" }, labelled(T.advisor, this.agent), labelled(T.seconds, this.seconds), labelled(T.showOnBoard, this.metric))));
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

  // Analyse positions beside a reviewed game, such as those of a better line.
  #follow() {
    const { table, connection } = this.app, { node } = table;
    if (this.job || this.reviewed?.tree !== table.tree || node.explanation || table.position.over || !connection.connected) return;
    if (this.followed.has(node)) return;
    this.followed.add(node);
    setTimeout(() => { if (!this.job && table.node === node && this.app.view === "analyse") this.run(null, true); }, 150);
  }

  // Analyse the position on the board.
  async run(agent = null, followed = false) {
    const seconds = followed ? FOLLOWED : Number(this.seconds.value) || 5;
    const { table, connection } = this.app, { tree, node } = table, exact = agent !== null;
    agent ??= await this.check();
    if (!agent || table.position.over) return;
    this.cancel();
    const job = (this.job = new AbortController());
    this.app.render();
    let error = null;
    try {
      await connection.request({ do: "explain", line: tree.line(node), agent, seconds: Math.min(60, Math.max(0.5, seconds)) }, {
        signal: job.signal,
        part: ({ explanation }) => {
          // No estimates if the exact result was wanted.
          const proven = exact && !explanation.proven ? { value: null, moves: explanation.moves.filter((move) => move.outcome) } : {};
          node.explanation = { ...explanation, ...proven, agent };
          if (table.node === node) this.app.render();
        },
      });
      const found = node.explanation;
      if (found && table.node === node && !followed) say(found.value === null ? T.notProven : `${found.moves[0].move}. ${T.value(found)}`);
    } catch (problem) {
      error = problem;
    }
    if (this.job === job) this.job = null;
    if (error) table.fail(error);
    this.app.render();
  }

  // Analyse every position of the game.
  async review() {
    const { table, connection } = this.app, { tree } = table;
    if (!this.agent.value) this.agent.value = table.info.advisor;
    const agent = await this.check();
    if (!agent) return;
    this.cancel();
    const job = (this.job = new AbortController());
    const line = tree.mainLine();
    this.reviewed = { tree, line };
    const all = line.filter((node) => !node.position?.over).length;
    let done = 0;
    for (const node of line) node.review = null;
    this.app.render();
    try {
      await connection.request({ do: "review", line: tree.line(line.at(-1)), agent }, {
        signal: job.signal,
        part: ({ ply, explanation }) => {
          line[ply].review = { ...explanation, agent };
          line[ply].explanation ??= line[ply].review;
          this.progress = T.reviewing(++done, all);
          this.soon();
        },
      });
      // The review needs all positions, for the side to move.
      const end = line.at(-1);
      if (!end.position) await table.load(tree, end);
      const wrong = line.filter((one) => this.mark(one) === "blunder").length;
      say(wrong ? `${T.blunders}: ${wrong}` : T.noBlunders);
    } catch (error) {
      table.fail(error);
    }
    this.progress = null;
    if (this.job === job) this.job = null;
    this.app.render();
  }

  // Draw incoming analyses some times a second.
  soon() {
    this.pending ??= setTimeout(() => { this.pending = null; this.app.render(); }, 200);
  }

  // The loss of a move, as a share of a win: from the analysis before it, but no more than the
  // analysis after it, one ply deeper, confirms.
  lost(node) {
    const seen = node.parent?.review, best = seen && share(seen.value, seen.unit);
    const played = seen && share(seen.moves.find((move) => move.move === node.move)?.value, seen.unit);
    if (best === null || best === undefined || played === null || played === undefined) return null;
    const first = node.review || node.position?.over ? this.shareOf(node) : null;
    const after = first === null ? played : node.parent.position.to_move ? 1 - first : first;
    return Math.max(0, best - Math.max(played, after));
  }

  // The mark of a reviewed move; null if it was the only legal one.
  mark(node) {
    const lost = node.parent?.review?.moves.length > 1 ? this.lost(node) : null;
    if (lost === null) return null;
    if (node.move === node.parent.review.moves[0].move) return "best";
    return MARKS.findLast(([, least]) => lost >= least)[0];
  }

  // The first role's share of a win in an analysed position.
  shareOf(node) {
    const position = node.position;
    if (position?.over) return (position.goals[0]) / 100;
    const seen = node.review ?? node.explanation;
    const found = seen && share(seen.value, seen.unit);
    return found === null || found === undefined ? null : position?.to_move ? 1 - found : found;
  }

  // The same in words: the expected lead, or the chance of a win.
  textOf(node) {
    const { position } = node, seen = node.review ?? node.explanation;
    if (position.over) return this.app.table.info.points ? T.lead(position.counts[0] - position.counts[1]) : T.percent(position.goals[0] / 100);
    if (seen.unit === "margin") return T.lead(position.to_move ? -seen.value : seen.value);
    return T.percent(this.shareOf(node));
  }

  // What a saved page says of a position: the mark of the move that led to it, a better one, the value.
  noteOf(node) {
    const mark = this.mark(node), known = this.shareOf(node) !== null, better = node.parent?.review?.moves[0];
    const parts = [mark && T.marks[mark], ["inaccuracy", "mistake", "blunder"].includes(mark) && T.betterWas(better.line.join(" ")), known && T.valueIs(this.app.table.side(0), this.textOf(node))];
    return parts.filter(Boolean).join(". ").slice(0, 300);
  }

  // The texts on the board by square: of the moves of the selected piece, or of all moves.
  values(from) {
    const { table } = this.app, seen = table.node.explanation, found = new Map();
    if (!seen || this.app.view !== "analyse") return found;
    const metric = this.metric.value;
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
    this.#follow();
  }

  render() {
    const { table } = this.app, { node } = table, seen = node.explanation, side = table.side(table.position.to_move);
    this.stop.hidden = !this.job;
    this.analyse.disabled = this.exact.disabled = table.position.over;
    const facts = [];
    if (table.position.over) facts.push(T.overPosition);
    else if (!seen) facts.push(this.job ? T.analysing : T.noAnalysis);
    else {
      if (seen.proven) facts.push(T.proven(seen, side));
      else if (seen.value === null) facts.push(T.notProven);
      else facts.push(seen.unit === "margin" ? this.#expected(seen) : T.chances(table.side(0), this.shareOf(node)));
      if (!seen.proven && seen.value !== null) facts.push(`${T.value(seen)} ${T.forSide(side)} (${T.units[seen.unit]})`);
      facts.push(T.working(seen.nodes, seen.seconds));
    }
    if (this.progress) facts.unshift(this.progress);
    this.summary.textContent = facts.join(" · ");
    if (!seen?.moves.length) this.moves.replaceChildren();
    else this.#keepingFocus(this.moves, () => this.moves.replaceChildren(this.#table(seen)));
    this.#keepingFocus(this.wrong, () => this.#graph());
  }

  // Draw again, and keep the focus on the same button.
  #keepingFocus(element, draw) {
    const all = () => [...element.querySelectorAll("button")], at = all().indexOf(document.activeElement);
    draw();
    if (at >= 0) all()[at]?.focus({ preventScroll: true });
  }

  // How many discs each side is expected to have on a full board.
  #expected(seen) {
    const { table } = this.app, { position } = table, free = [...position.board].filter((what) => what === ".").length;
    const all = position.counts[0] + position.counts[1] + free, lead = position.to_move ? -seen.value : seen.value;
    return T.expected([0, 1].map((i) => [table.side(i), Math.round((all + (i ? -lead : lead)) / 2)]));
  }

  #table(seen) {
    const { app } = this, { table } = app, { node } = table, best = seen.moves;
    const has = (key) => best.some((move) => move[key] !== null);
    const columns = ["value", "probability", "visits"].filter(has);
    const row = (move) => {
      const show = () => app.board.point(move.squares);
      const hide = () => app.board.point();
      const steps = move.line.slice(1).map((name, i) => button(name, () => table.tryLine(node, move.line, i + 2), { class: "step" }));
      return el("tr", { onmouseenter: show, onmouseleave: hide },
        el("th", { scope: "row" }, button(move.move, () => table.tryLine(node, move.line), { onfocus: show, onblur: hide })),
        columns.map((key) => el("td", { class: "number" }, this.metricText(move, key, seen.unit) ?? "–")),
        el("td", { class: "line" }, steps));
    };
    return el("table", { class: "moves" },
      el("thead", {}, el("tr", {}, ["move", ...columns, "line"].map((key) => el("th", { scope: "col" }, T.headings[key])))),
      el("tbody", {}, best.map(row)));
  }

  #graph() {
    const { table } = this.app, { info, tree } = table;
    if (this.reviewed?.tree !== tree) this.reviewed = null;
    const line = this.reviewed?.line ?? tree.mainLine();
    const known = this.progress ? line.filter((node) => node.review) : line;
    const points = known.map((node) => [node.ply, this.shareOf(node)]).filter(([, y]) => y !== null);
    if (!line.some((node) => node.review)) {
      this.wrong.replaceChildren();
      return this.graph.replaceChildren();
    }
    const sides = [table.side(0), table.side(1)], mover = (node) => node.parent.position?.to_move;
    const marked = line.slice(1).map((node) => [node, this.mark(node)]).filter(([, mark]) => mark);
    const wrong = marked.filter(([, mark]) => mark === "blunder" || mark === "mistake");
    const item = ([node, mark]) => {
      const { line: better } = node.parent.review.moves[0];
      return el("li", {}, button(
        T.wrong(node.ply, sides[mover(node)], node.move, better[0], this.lost(node)),
        () => { table.goTo(node.parent); this.app.toBoard(); }, { class: mark }),
      button(T.better, () => { table.tryLine(node.parent, better); this.app.toBoard(); }, { "aria-label": T.betterOf(node.ply) }));
    };
    const counts = (role, name) => marked.filter(([node, mark]) => mover(node) === role && mark === name).length;
    const margin = info.points && line.some((node) => node.review?.unit === "margin");
    this.graph.replaceChildren(
      chart({
        lines: [points], width: this.graph.clientWidth || 480, label: margin ? T.graphLead(sides[0]) : T.graph(sides[0]), xLabel: T.ply, xRange: [0, line.at(-1).ply], baseline: 0.5, at: table.node.ply,
        ticks: margin ? [-20, -8, 0, 8, 20].map((lead) => [share(lead, "margin"), T.lead(lead)]) : [0, 0.25, 0.5, 0.75, 1].map((part) => [part, T.percent(part)]),
        marks: wrong.map(([node, mark]) => ({ x: node.ply, y: this.shareOf(node) ?? 0.5, text: T.marks[mark], mark })),
        click: (ply) => { const node = line[Math.max(0, Math.min(line.length - 1, Math.round(ply)))]; table.goTo(node); },
      }),
      el("table", { class: "marks" },
        el("thead", {}, el("tr", {}, el("td", {}), MARKS.map(([name]) => el("th", { scope: "col" }, el("span", { class: `sign ${name}`, "aria-hidden": "true" }, T.signs[name]), el("span", { class: "name" }, ` ${T.marks[name]}`))))),
        el("tbody", {}, sides.map((side, role) => el("tr", {}, el("th", { scope: "row" }, T.capital(side)), MARKS.map(([name]) => el("td", { class: "number" }, String(counts(role, name)))))))));
    this.wrong.replaceChildren(el("h3", {}, T.blunders), wrong.length ? el("ul", { class: "plain wrong" }, wrong.map(item)) : el("p", {}, T.noBlunders));
  }
}

// A value as the share of a win, 0 to 1: the scale of bars and graphs.
function share(value, unit) {
  if (value === null || value === undefined) return null;
  if (unit === "score") return (1 + Math.max(-1, Math.min(1, value))) / 2;
  return 1 / (1 + Math.exp(-value / (unit === "margin" ? 8 : 150)));
}
