// The view of trainings and tournaments: progress, curves, reports, games against and between policies.

import { chart, line } from "./chart.js";
import { button, el, labelled } from "./dom.js";
import { T } from "./texts.js";

const EVERY = 5000; // milliseconds between updates
const STOPPED = 3600; // seconds without a change
const SHARES = ["evaluation/", "exact/", "exam/"]; // columns of numbers from 0 to 1

export class RunsView {
  constructor(app) {
    this.app = app;
    this.list = el("ul", { class: "plain runs" });
    this.metric = el("select", { onchange: () => this.#compare() });
    this.together = el("div", {}, labelled(T.compare, this.metric), (this.all = el("div")));
    this.element = el("section", { "aria-label": T.views.runs }, el("h2", {}, T.runs), el("p", { class: "help" }, T.runsHelp), this.together, this.list);
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
    this.runs = runs;
    const focused = document.activeElement?.id;
    this.list.replaceChildren(...(runs.length ? runs.map((run) => this.#item(run)) : [el("li", {}, T.noRuns)]));
    const columns = [...new Set(runs.flatMap((run) => Object.keys(run.table ?? {})))].filter((name) => !/^(steps|minutes|cpu_minutes|low\/|high\/)/.test(name));
    this.together.hidden = !columns.length;
    const chosen = columns.includes(this.metric.value) ? this.metric.value : columns[0];
    this.metric.replaceChildren(...columns.map((name) => el("option", { value: name, selected: name === chosen }, T.metric(name))));
    this.#compare();
    if (focused) document.getElementById(focused)?.focus();
  }

  #item(run) {
    const about = [T[run.kind], run.game, T.age(run.age)].filter(Boolean).join(", ");
    const one = (name, text, action) => button(text, action, { id: `${name}-${run.name}`, "aria-describedby": `run-${run.name}` });
    const { table = {} } = run, opponents = Object.keys(table).filter((name) => `low/${name.slice(11)}` in table);
    return el("li", {}, el("h3", { id: `run-${run.name}` }, run.name), el("p", {}, about), this.#progress(run),
      opponents.length ? this.#chart(T.curve(run.name), T.scores, opponents.map((name) => [name.slice(11), run, name])) : "",
      el("div", { class: "buttons" },
        run.report ? one("report", T.reportPage, () => open(this.app.connection.proven("report", run.name), "_blank", "noopener")) : el("span", {}, T.noReport),
        run.best && run.game ? one("play", T.playBest, () => this.app.playAgainst(run.game, run.best)) : run.kind === "training" ? el("span", {}, T.noPolicy) : "",
        run.before && run.latest && run.game ? one("watch", T.watch, () => this.app.watch(run)) : ""));
  }

  // Steps, time left, exam and losses at the last evaluation.
  #progress({ steps: all, age, table = {} }) {
    const last = (name) => table[name]?.at(-1) ?? null, steps = last("steps");
    if (!steps) return "";
    const losses = Object.keys(table).filter((name) => name.includes("loss")).map((name) => `${T.metric(name)} ${last(name)?.toFixed(3) ?? "–"}`);
    const left = steps < all && age < STOPPED ? T.minutesLeft((last("minutes") * (all - steps)) / steps) : "";
    return el("p", {}, el("progress", { max: Math.max(all ?? 0, steps), value: steps, "aria-label": T.steps }), " ",
      [T.stepsOf(steps, all), left, last("exam/kept") !== null && T.exam(last("exam/kept")), ...losses].filter(Boolean).join(" · "));
  }

  // One metric of all runs.
  #compare() {
    const name = this.metric.value, shown = this.runs.filter((run) => run.table?.[name]);
    this.all.replaceChildren(shown.length ? this.#chart(T.metric(name), "", shown.map((run) => [run.name, run, name])) : "");
  }

  // Lines given as [name, run, column], with bands where the runs have intervals.
  #chart(label, title, given) {
    const share = SHARES.some((kind) => given[0][2].startsWith(kind));
    const points = ({ table }, column) => (table[column] ?? []).flatMap((y, i) => (y === null ? [] : [[table.steps[i], y]]));
    const lines = given.map(([, run, column]) => points(run, column));
    const band = ({ table }, name) => (table[`low/${name}`] ?? []).map((low, i) => [table.steps[i], low, table[`high/${name}`][i]]);
    const all = lines.flat(), last = Math.max(1, ...all.map(([steps]) => steps)), [unit, text] = last < 1e6 ? [1e3, "k"] : [1e6, "M"];
    const range = share ? [0, 1] : [Math.min(0, ...all.map(([, y]) => y)), Math.max(1e-9, ...all.map(([, y]) => y))];
    const written = share ? T.percent : (y) => String(Number(y.toPrecision(2)));
    const legend = given.map(([name], i) => el("li", {}, el("span", { ...line("key", i), "aria-hidden": "true" }), lines[i].length ? T.now(name, written(lines[i].at(-1)[1])) : name));
    return el("figure", {},
      chart({
        lines, bands: given.map(([, run, column]) => band(run, column.slice(11))), range, label, baseline: share ? 0.5 : 0,
        width: Math.min(640, (this.list.clientWidth || 640) - 28), xLabel: T.steps, xRange: [0, last], xText: (steps) => (steps ? `${steps / unit}${text}` : "0"),
        ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => range[0] + part * (range[1] - range[0])).map((y) => [y, written(y)]),
      }),
      el("figcaption", {}, title, el("ul", { class: "plain" }, legend)));
  }
}
