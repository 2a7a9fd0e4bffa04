// The view of trainings and tournaments.

import { button, el, say } from "./dom.js";
import { chart, legend, smoothed, table as figures } from "./chart.js";
import { markdown } from "./markdown.js";
import { T } from "./texts.js";

const EVERY = 2000; // milliseconds between two looks at a training

// What has a scale of its own, and a chart.
const ALONE = /^(train|speed)\/|^games\/(plies|wiped_out)$/;

export class RunsView {
  constructor(app) {
    this.app = app;
    this.name = null;
    this.smooth = el("input", { type: "checkbox", id: "smooth", onchange: () => this.draw() });
    this.list = el("ul", { class: "plain runs" });
    this.title = el("h2", {});
    this.actions = el("div", { class: "buttons" });
    this.curves = el("div");
    this.rest = el("div");
    this.detail = el("div", { hidden: true }, this.title, this.actions, this.curves, this.rest);
    this.element = el("section", { "aria-label": T.views.runs }, el("h2", {}, T.runs), this.list, this.detail);
    setInterval(() => { if (app.view === "runs" && app.connection.connected && !document.hidden) this.refresh(); }, EVERY);
  }

  async refresh() {
    if (this.busy) return;
    this.busy = true;
    try {
      const { runs } = await this.app.connection.request({ do: "runs" });
      const text = JSON.stringify(runs.map((run) => [run.name, T.age(run.age)]));
      if (text !== this.listed) {
        this.listed = text;
        const focused = document.activeElement?.dataset?.run;
        this.list.replaceChildren(...(runs.length ? runs.map((run) => el("li", {},
          button(run.name, () => this.open(run.name), { "data-run": run.name, "aria-current": run.name === this.name ? "true" : null }),
          ` ${T[run.kind]}, ${T.age(run.age)}`)) : [el("li", {}, T.noRuns)]));
        if (focused) this.list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
      }
      if (this.name && runs.some((run) => run.name === this.name)) await this.load();
    } catch { /* the server is away, which the page says, or the folder has changed */ } finally {
      this.busy = false;
    }
  }

  async open(name) {
    this.name = name;
    this.shown = this.listed = null;
    this.busy = false;
    await this.refresh();
    say(name);
  }

  async load() {
    const { run } = await this.app.connection.request({ do: "run", name: this.name });
    const text = JSON.stringify(run);
    if (text === this.shown) return;
    this.shown = text;
    this.run = run;
    this.detail.hidden = false;
    this.title.textContent = `${run.name} (${T[run.kind]})`;
    if (run.kind === "tournament") this.#tournament();
    else this.#training();
  }

  #training() {
    const { run } = this;
    this.actions.replaceChildren(run.policy && run.game
      ? button(T.playLatest, () => this.app.playAgainst(run.game, run.policy), { class: "main" }) : el("span", {}, T.noPolicy),
      el("label", { htmlFor: "smooth" }, this.smooth, ` ${T.smooth}`));
    this.draw();
    const parts = [this.#reportPage()];
    for (const picture of run.pictures) parts.push(el("img", { class: "picture", src: `runs/${encodeURIComponent(run.name)}/${picture}`, alt: T.picture(picture) }));
    if (run.report) parts.push(el("details", {}, el("summary", {}, T.report), markdown(run.report)));
    if (run.settings) parts.push(el("details", {}, el("summary", {}, T.settings), el("pre", { tabIndex: 0 }, run.settings)));
    this.#rest(parts, [run.report, run.report_page, run.settings, run.pictures]);
  }

  #reportPage() {
    if (!this.run.report_page) return "";
    return el("p", {}, el("a", { href: `runs/${encodeURIComponent(this.name)}/report.html`, target: "_blank", rel: "noopener" }, T.reportPage));
  }

  // What is open stays open where nothing but the curves has changed.
  #rest(parts, key) {
    const text = JSON.stringify([this.name, key]);
    if (text === this.restShown) return;
    this.restShown = text;
    this.rest.replaceChildren(...parts);
  }

  draw() {
    const { run } = this, groups = new Map();
    for (const [name, points] of Object.entries(run.curves)) {
      const [group, rest] = name.includes("/") ? name.split(/\/(.*)/) : ["", name];
      const own = ALONE.test(name) ? name : group;
      if (!groups.has(own)) groups.set(own, []);
      groups.get(own).push({ name: rest, points: this.smooth.checked ? smoothed(points, 5) : points });
    }
    const rank = (name) => ["evaluation", "exact", "games", "speed"].findIndex((start) => name.startsWith(start)) >>> 0;
    const sorted = [...groups].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
    const opened = new Set([...this.curves.querySelectorAll("details[open]")].map((d) => d.dataset.of));
    const drawn = sorted.map(([name, series]) => {
      const rows = figures(series, T.steps);
      rows.dataset.of = name;
      rows.open = opened.has(name);
      return el("figure", {}, el("figcaption", {}, T.group(name)), chart({ series, label: T.curvesOf(name), xLabel: T.steps }), series.length > 1 ? legend(series) : "", rows);
    });
    if (run.note) drawn.unshift(el("p", {}, run.note));
    this.curves.replaceChildren(el("h3", {}, T.curves), ...(drawn.length ? [el("div", { class: "figures" }, drawn)] : [el("p", {}, T.noCurves)]));
  }

  #tournament() {
    const { run } = this;
    this.actions.replaceChildren();
    this.curves.replaceChildren();
    const parts = [this.#reportPage()];
    for (const [game, { entrants, cells }] of Object.entries(run.tables)) {
      const found = new Map(cells.map(([one, other, ...counts]) => [`${one}\n${other}`, counts]));
      const recorded = run.recorded.includes(game);
      parts.push(el("h3", {}, T.crosstable(game)), recorded ? "" : el("p", {}, T.notRecorded), el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": T.crosstable(game) }, el("table", { class: "cross" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, T.entrant), el("th", { scope: "col" }, T.score), entrants.map(([, ], i) => el("th", { scope: "col" }, String(i + 1))))),
        el("tbody", {}, entrants.map(([one, total], i) => el("tr", {},
          el("th", { scope: "row" }, `${i + 1}. ${one}`), el("td", { class: "number" }, points(total)),
          entrants.map(([other]) => {
            const counts = found.get(`${one}\n${other}`);
            if (!counts) return el("td", {}, one === other ? "·" : "");
            const title = T.cell(...counts);
            return el("td", { class: "number", title }, recorded
              ? button(points(counts), () => this.cell(game, one, other), { "aria-label": `${T.openCell(one, other)}: ${title}` }) : points(counts));
          })))))));
    }
    if (run.report) parts.push(el("details", {}, el("summary", {}, T.report), markdown(run.report)));
    this.#rest(parts, run);
  }

  async cell(game, first, second) {
    try {
      const { games } = await this.app.connection.request({ do: "cell", name: this.name, game, first, second });
      this.app.records.take(games, `${this.name}: ${first} – ${second}`);
      this.app.setView("records");
    } catch (error) {
      this.app.table.fail(error);
    }
  }
}

function points([won, drawn, lost]) {
  return ((won + drawn / 2) / Math.max(1, won + drawn + lost)).toFixed(2).replace(/^0/, "");
}
