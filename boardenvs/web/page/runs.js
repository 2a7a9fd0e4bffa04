// The view of trainings and tournaments: curves, reports, and games against policies.

import { chart } from "./chart.js";
import { button, el } from "./dom.js";
import { T } from "./texts.js";

const EVERY = 5000; // milliseconds between updates

export class RunsView {
  constructor(app) {
    this.app = app;
    this.list = el("ul", { class: "plain runs" });
    this.element = el("section", { "aria-label": T.views.runs }, el("h2", {}, T.runs), el("p", { class: "help" }, T.runsHelp), this.list);
    setInterval(() => { if (app.view === "runs" && app.connection.connected && !document.hidden) this.refresh(); }, EVERY);
  }

  async refresh() {
    let runs;
    try {
      ({ runs } = await this.app.connection.request({ do: "runs" }));
    } catch {
      return; // the page shows that the server is away
    }
    const text = JSON.stringify(runs.map((run) => ({ ...run, age: T.age(run.age) })));
    if (text === this.listed) return;
    this.listed = text;
    const focused = document.activeElement?.id;
    this.list.replaceChildren(...(runs.length ? runs.map((run) => this.#item(run)) : [el("li", {}, T.noRuns)]));
    if (focused) document.getElementById(focused)?.focus();
  }

  #item(run) {
    const about = [T[run.kind], run.game, T.age(run.age)].filter(Boolean).join(", ");
    const name = { "aria-describedby": `run-${run.name}` };
    const report = button(T.reportPage, () => this.#report(run.name), { id: `report-${run.name}`, ...name });
    const play = button(T.playLatest, () => this.app.playAgainst(run.game, run.policy), { id: `play-${run.name}`, ...name });
    return el("li", {}, el("h3", { id: `run-${run.name}` }, run.name), el("p", {}, about), this.#curve(run),
      el("div", { class: "buttons" }, run.report ? report : el("span", {}, T.noReport), run.policy && run.game ? play : run.kind === "training" ? el("span", {}, T.noPolicy) : ""));
  }

  async #report(report) {
    try {
      open(await this.app.connection.once({ report }), "_blank", "noopener");
    } catch (error) {
      this.app.table.fail(error);
    }
  }

  // A training's scores against its opponents.
  #curve({ name, curve = {} }) {
    const lines = Object.values(curve);
    if (!lines.length) return "";
    const last = Math.max(...lines.flat().map(([steps]) => steps)), [unit, text] = last < 1e6 ? [1e3, "k"] : [1e6, "M"];
    const legend = Object.entries(curve).map(([opponent, points], number) =>
      el("li", {}, el("span", { class: `key line-${number}`, "aria-hidden": "true" }), T.scored(opponent, points.at(-1)[1])));
    return el("figure", {},
      chart({
        lines, width: Math.min(640, (this.list.clientWidth || 640) - 28), label: T.curve(name), xLabel: T.steps, xRange: [0, last], baseline: 0.5,
        xText: (steps) => (steps ? `${steps / unit}${text}` : "0"), ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => [part, T.percent(part)]),
      }),
      el("figcaption", {}, T.scores, el("ul", { class: "plain" }, legend)));
  }
}
