// The view of an agent's analysis of a position or of a whole game.

import { button, choice, el, keepingFocus, labelled, say } from "./dom.js";
import { chart } from "./chart.js";
import { agentField } from "./newgame.js";
import { T } from "./texts.js";

// The least loss of each mark, as a share of a win and in discs; the first is for the best move.
const MARKS = [["best", 0, 0], ["good", 0, 0], ["inaccuracy", 0.05, 2], ["mistake", 0.1, 4], ["blunder", 0.15, 8]];
const FOLLOWED = 1; // seconds for positions of a reviewed game's variations

export class AnalyseView {
  constructor(app) {
    this.app = app;
    this.agent = agentField(app, () => app.table.info.text);
    this.agent.addEventListener("change", () => { this.chosen = true; });
    this.seconds = el("input", { type: "number", min: 0.5, max: 60, step: 0.5, value: 5 });
    this.metric = choice(T.metrics, "value", () => app.render());
    this.job = this.exercise = null; // {node, answer, line, solved}: the mistake that is asked for, and the node of a right answer
    this.tries = new Map();
    this.told = new WeakSet(); // mistakes whose better move was shown
    this.followed = new WeakSet();
    this.whole = button(T.analyseGame, () => this.review(), { class: "main" });
    this.analyse = button(T.analysePosition, () => this.run());
    this.exact = button(T.exact, () => this.run(app.table.info.solver));
    this.stop = button(T.stop, () => this.cancel());
    this.summary = el("p", { class: "summary" });
    this.moves = el("div", { class: "scroll analysed", tabIndex: 0, role: "region", "aria-label": T.analysis });
    this.graph = el("div");
    this.wrong = el("div", { tabIndex: -1 });
    this.element = el("section", { "aria-label": T.views.analyse },
      el("div", { class: "buttons" }, this.whole, this.analyse, this.exact, this.stop),
      this.agent.problem, this.summary, this.graph, this.moves);
    this.extra = el("section", { "aria-label": T.blunders }, this.wrong,
      el("details", {}, el("summary", {}, T.analyst),
        el("div", { class: "fields" }, labelled(T.advisor, this.agent), labelled(T.seconds, this.seconds), labelled(T.showOnBoard, this.metric))));
  }

  cancel() {
    this.job?.abort();
    this.job = this.progress = null;
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
    agent ??= await this.agent.check();
    if (!agent || table.position.over) return;
    this.cancel();
    const job = (this.job = new AbortController());
    this.app.render();
    let error = null;
    try {
      await connection.request({ do: "explain", line: tree.line(node), agent, seconds: Math.min(60, Math.max(0.5, seconds)) }, {
        signal: job.signal,
        part: ({ explanation, preparing }) => {
          this.progress = preparing ? T.preparing(preparing) : exact && !explanation.proven ? T.notYet(explanation.depth) : null;
          if (explanation && !this.progress) this.#take(node, explanation);
          if (table.node === node) this.app.render();
        },
      });
      const found = node.explanation;
      if (exact && !found?.proven) table.message = T.notProven;
      if ((exact || found) && table.node === node && !followed) say(exact && !found?.proven ? T.notProven : `${found.moves[0].usual[0]}. ${T.value(found)}`);
    } catch (problem) {
      error = problem;
    }
    if (this.job === job) this.job = this.progress = null;
    if (error) table.fail(error);
    this.app.render();
  }

  // Analyse every position of the game.
  async review() {
    const { table, connection } = this.app, { tree } = table;
    if (!this.agent.value) this.agent.value = table.info.advisor;
    const text = await this.agent.check(), agent = text === table.info.advisor ? null : text;
    if (!text) return;
    this.cancel();
    const job = (this.job = new AbortController());
    const line = tree.end.path;
    this.reviewed = { tree, line };
    const done = { true: 0, false: 0 }; // quick looks, which are too rough for marks, and deep ones
    this.tries = new Map(); // mistakes that were asked for, and whether the first answer was right
    this.app.render();
    try {
      const { stopped } = await connection.request({ do: "review", line: tree.line(line.at(-1)), agent }, {
        signal: job.signal,
        part: ({ ply, explanation, rough, preparing }) => {
          if (!preparing && explanation.moves.length) this.#take(line[ply], explanation, rough);
          this.progress = preparing ? T.preparing(preparing) : (rough ? T.firstLook : T.reviewing)(++done[rough], line.length);
          this.pending ??= setTimeout(() => { this.pending = null; this.app.render(); }, 200); // some times a second
        },
      });
      // The review needs all positions, for the side to move.
      const end = line.at(-1);
      if (!end.position) await table.load(tree, end);
      const wrong = this.#wrong(line).length;
      if (!stopped) say(wrong ? `${T.blunders}: ${wrong}` : T.noBlunders);
    } catch (error) {
      table.fail(error);
    }
    if (this.job === job) this.job = this.progress = null;
    this.app.render();
  }

  // Keep the deepest analysis of a position, and the latest of equally deep ones.
  #take(node, found, rough = false) {
    const had = node.explanation, same = had?.unit === found.unit && had.value !== null;
    if (same && !found.proven && (had.proven || found.depth < had.depth)) node.rough &&= rough;
    else Object.assign(node, { explanation: found, rough });
  }

  // The value of a position for one role, in the unit of `seen`; null if unknown.
  #valueFor(role, node, unit) {
    const { position } = node, seen = node.explanation;
    if (position?.over && unit === "margin") return (role ? -1 : 1) * (position.counts[0] - position.counts[1]);
    const part = this.shareOf(node);
    if (seen?.unit === unit && !position?.over) return seen.value === null ? null : (role === position.to_move ? 1 : -1) * seen.value;
    return part === null || unit !== "score" ? null : (role ? -1 : 1) * (2 * part - 1);
  }

  // The loss of a move in discs, or as a share of a win, as it is shown or `exact`; null if it is not known.
  lost(node, exact = false) {
    const seen = node.parent?.explanation, { position } = node.parent ?? {};
    if (!position || !seen || seen.value === null) return null;
    const after = this.#valueFor(position.to_move, node, seen.unit) ?? seen.moves.find((move) => move.move === node.move)?.value;
    return after === null || after === undefined ? null : this.#loss(seen, after, exact);
  }

  // The difference of what is shown, so that all numbers agree; or exactly, by which moves are marked.
  #loss(seen, value, exact) {
    const round = exact ? (one) => one : Math.round;
    const whole = (one) => (seen.unit === "margin" ? Math.sign(one) * round(Math.abs(one)) : round(100 * share(one, seen.unit)));
    return Math.max(0, whole(seen.value) - whole(value)) / (seen.unit === "margin" ? 1 : 100);
  }

  #mark(seen, lost) { return MARKS.findLast(([, part, discs]) => lost >= (seen.unit === "margin" ? discs : part))[0]; }

  lostText(seen, lost) { return seen.unit === "margin" ? T.lead(-lost) : T.lostShare(lost); }

  // Ask for a better move in place of a mistake.
  ask(node) {
    const { table } = this.app;
    this.exercise = { node, answer: "", solved: null };
    table.goTo(node.parent).then(() => say(this.#question()));
    this.app.toBoard();
  }

  // The mistake that is asked for, also while the right answer is on the board.
  get asking() {
    const { node, solved } = this.exercise ?? {}, at = this.app.table.node;
    return this.app.view === "analyse" && node && (at === node.parent || at === solved) ? node : null;
  }

  // What stands beside the board: the question or what the answer is worth.
  get note() { return this.asking ? this.exercise.answer || this.#question() : ""; }

  #question() {
    const node = this.asking;
    return node ? T.tryIt(this.app.table.titleOf(node), this.app.table.side(node.parent.position.to_move), this.lostText(node.parent.explanation, this.lost(node))) : "";
  }

  // Whether a move of the user answers this question; says what the move is worth.
  answered(name) {
    const node = this.asking, { table } = this.app, seen = node?.parent === table.node && node.parent.explanation, move = seen && seen.moves.find((one) => one.move === name);
    if (!move) return false;
    const loss = (exact) => (name === node.move ? this.lost(node, exact) : move.value === null ? null : this.#loss(seen, move.value, exact)), lost = loss(false);
    if (lost === null) return false;
    const right = ["best", "good"].includes(this.#mark(seen, loss(true)));
    if (!this.tries.has(node)) this.tries.set(node, right);
    const answer = (right ? T.right : T.notRight)(move.usual[0], lost && this.lostText(seen, lost));
    this.exercise = { node, answer, line: move.usual.slice(1).join(" "), solved: right ? table.tree.child(node.parent, name) : null };
    if (right) this.#try(node, move.line);
    say(answer);
    return true;
  }

  // Show a better line in place of a mistake.
  #try(node, line) {
    this.told.add(node);
    this.app.table.tryLine(node.parent, line);
  }

  // The question, the answer and what comes next, in place of the list.
  #exercise(wrong) {
    const { asking } = this, mine = wrong.filter((node) => this.app.table.seats[node.parent.position.to_move] === "human");
    const worst = [...(mine.length ? mine : wrong)].sort((a, b) => this.lost(b) - this.lost(a)), left = worst.filter((node) => !this.tries.has(node) && node !== asking);
    const { answer, line } = this.exercise;
    return [el("p", {}, this.#question()), el("p", { class: "answer" }, answer || T.playIt, line ? ` ${T.followed(line)}` : ""),
      el("div", { class: "buttons" },
        left.length ? button(T.nextMistake(left.length, mine.length), () => this.ask(left[0])) : "",
        button(T.better, () => { this.exercise = null; this.#try(asking, asking.parent.explanation.moves[0].line); }),
        button(T.backToList, () => { this.exercise = null; this.app.table.goTo(asking.parent); }))];
  }

  // The mark of a move; null if it was the only legal one, or is not known yet.
  mark(node) {
    const seen = node.parent?.explanation, lost = seen?.moves.length > 1 ? this.lost(node, true) : null;
    if (lost === null || !this.reviewed || node.rough || node.parent.rough) return null;
    if (node.move === seen.moves[0].move) return "best";
    return this.#mark(seen, lost);
  }

  // The first role's share of a win in an analysed position.
  shareOf(node) {
    const { position } = node, seen = node.explanation;
    if (position?.over) return this.app.table.info.points ? share(position.counts[0] - position.counts[1], "margin") : position.goals[0] / 100;
    const found = seen && share(seen.value, seen.unit);
    return found === null || found === undefined ? null : position?.to_move ? 1 - found : found;
  }

  // The same in words: the lead in discs, or the chance of a win.
  textOf(node) {
    if (node.position.over || node.explanation.unit === "margin") {
      const lead = this.#valueFor(0, node, "margin");
      if (this.app.table.info.points && lead !== null) return T.lead(lead);
    }
    return T.percent(this.shareOf(node));
  }

  // What a saved page says of a position: the mark of the move that led to it, a better one, the value.
  noteOf(node) {
    const mark = this.mark(node), known = this.shareOf(node) !== null, better = node.parent?.explanation?.moves[0];
    const parts = [mark && T.marks[mark], ["inaccuracy", "mistake", "blunder"].includes(mark) && T.betterWas(better.usual.join(" ")), known && T.valueIs(this.app.table.side(0), this.textOf(node))];
    return parts.filter(Boolean).join(". ").slice(0, 300);
  }

  // The texts on the board by square: of the moves of the selected piece, or of all moves.
  values(from) {
    const { table } = this.app, seen = table.node.explanation, found = new Map();
    if (!seen || this.app.view !== "analyse" || this.asking) return found;
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
      this.agent.show("");
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
      else if (seen.unit === "margin") facts.push(T.expected(seen.value < 0 ? table.side(1 - table.position.to_move) : side, Math.round(Math.abs(seen.value)), table.info.turns ? "disc" : "point"));
      else facts.push(T.chances(table.side(0), this.shareOf(node)), `${T.value(seen)} ${T.forSide(side)} (${T.units[seen.unit]})`);
      facts.push(T.working(seen.nodes, seen.seconds));
    }
    if (this.progress) facts.unshift(this.progress);
    this.summary.textContent = facts.join(" · ");
    this.moves.hidden = table.position.over;
    keepingFocus(this.moves, () => this.moves.replaceChildren(seen?.moves.length && !this.asking ? this.#table(seen) : ""));
    keepingFocus(this.wrong, () => this.#graph());
  }

  #table(seen) {
    const { app } = this, { table } = app, { node } = table, best = seen.moves;
    const has = (key) => best.some((move) => move[key] !== null);
    const columns = ["value", "probability", "visits"].filter(has);
    const row = (move) => {
      const show = () => app.board.point(move.squares);
      const hide = () => app.board.point();
      const steps = move.usual.slice(1).map((name, i) => button(name, () => table.tryLine(node, move.line, i + 2), { class: "step" }));
      return el("tr", { onmouseenter: show, onmouseleave: hide },
        el("th", { scope: "row" }, button(move.usual[0], () => table.tryLine(node, move.line), { onfocus: show, onblur: hide })),
        columns.map((key) => el("td", { class: "number" }, this.metricText(move, key, seen.unit) ?? "–")),
        el("td", { class: "line" }, steps));
    };
    return el("table", { class: "moves" },
      el("thead", {}, el("tr", {}, ["move", ...columns, "line"].map((key) => el("th", { scope: "col" }, T.headings[key])))),
      el("tbody", {}, best.map(row)));
  }

  // The moves that are listed.
  #wrong(line) { return line.map((node) => [node, this.mark(node)]).filter(([, mark]) => mark === "blunder" || mark === "mistake"); }

  #graph() {
    const { table } = this.app, { info, tree } = table;
    if (this.reviewed?.tree !== tree) this.reviewed = null;
    const line = this.reviewed?.line ?? tree.end.path;
    const points = line.map((node) => [node.ply, this.shareOf(node)]).filter(([, y]) => y !== null);
    if (!this.reviewed || !line.some((node) => node.explanation)) {
      this.wrong.replaceChildren();
      return this.graph.replaceChildren();
    }
    const sides = [table.side(0), table.side(1)], mover = (node) => node.parent.position?.to_move;
    const marked = line.slice(1).map((node) => [node, this.mark(node)]).filter(([, mark]) => mark), wrong = this.#wrong(line);
    const item = ([node, mark]) => {
      const { line, usual: [better] } = node.parent.explanation.moves[0];
      return el("li", {}, button(
        T.wrong(this.app.table.titleOf(node), sides[mover(node)], this.lostText(node.parent.explanation, this.lost(node)), this.told.has(node) && better),
        () => { table.goTo(node.parent); this.app.toBoard(); }, { class: mark }),
      button(T.tryAgain, () => this.ask(node), { "aria-label": T.tryAgainOf(this.app.table.titleOf(node)) }),
      button(T.better, () => { this.#try(node, line); this.app.toBoard(); }, { "aria-label": T.betterOf(this.app.table.titleOf(node)) }));
    };
    const counts = (role, name) => marked.filter(([node, mark]) => mover(node) === role && mark === name).length;
    const margin = info.points && line.some((node) => node.explanation?.unit === "margin");
    this.graph.replaceChildren(
      chart({
        lines: [points], width: this.graph.clientWidth || 480, label: margin ? T.graphLead(sides[0]) : T.graph(sides[0]), xLabel: T.headings.move, xText: (ply) => String(ply && parseInt(table.numberOf(line[ply]), 10)), xRange: [0, line.at(-1).ply], baseline: 0.5, at: table.node.ply,
        ticks: margin ? [-20, -8, 0, 8, 20].map((lead) => [share(lead, "margin"), T.lead(lead)]) : [0, 0.25, 0.5, 0.75, 1].map((part) => [part, T.percent(part)]),
        marks: wrong.map(([node, mark]) => ({ x: node.ply, y: this.shareOf(node) ?? 0.5, text: T.marks[mark], mark })),
        click: (ply) => { const node = line[Math.max(0, Math.min(line.length - 1, Math.round(ply)))]; table.goTo(node); },
      }),
      el("table", { class: "marks" },
        el("thead", {}, el("tr", {}, el("td", {}), MARKS.map(([name]) => el("th", { scope: "col" }, el("span", { class: `sign ${name}`, "aria-hidden": "true" }, T.signs[name]), el("span", { class: "name" }, ` ${T.marks[name]}`))))),
        el("tbody", {}, sides.map((side, role) => el("tr", {}, el("th", { scope: "row" }, T.capital(side)), MARKS.map(([name]) => el("td", { class: "number" }, String(counts(role, name)))))))));
    const right = [...this.tries.values()].filter(Boolean).length, count = this.tries.size ? ` · ${T.tried(right, this.tries.size)}` : "";
    this.wrong.replaceChildren(el("h3", {}, `${T.blunders}${wrong.length ? `: ${wrong.length}` : ""}${count}`), ...(this.asking ? this.#exercise(wrong.map(([node]) => node)) : [wrong.length ? el("ul", { class: "plain wrong" }, wrong.map(item)) : el("p", {}, line.some((node) => node.rough) ? "" : T.noBlunders)]));
  }
}

// A value as the share of a win, 0 to 1: the scale of bars and graphs.
function share(value, unit) {
  if (value === null || value === undefined) return null;
  if (unit === "score") return (1 + Math.max(-1, Math.min(1, value))) / 2;
  return 1 / (1 + Math.exp(-value / (unit === "margin" ? 8 : 250)));
}
