// Line charts as SVG, with a table of the same figures for those who do not see them.

import { el, svg } from "./dom.js";
import { T } from "./texts.js";

const HEIGHT = 240, LEFT = 56, RIGHT = 12, TOP = 10, BOTTOM = 30;
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "12 4", "4 2"];

// series: [{name, points: [[x, y]]}]; marks: [{x, y, text}]; at: an x that is pointed out;
// click(x) is called with the x that was clicked at.
export function chart({ series, label, xLabel, range = null, marks = [], at = null, click = null, baseline = null, yText = short, xText = short }) {
  const width = innerWidth < 700 ? 360 : 640; // so that its labels can be read
  const points = series.flatMap((one) => one.points);
  const [x0, x1] = bounds(points.map(([x]) => x));
  let [y0, y1] = range ?? bounds(points.map(([, y]) => y));
  if (y0 === y1) [y0, y1] = [y0 - 0.5, y1 + 0.5];
  const x = (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + ((y1 - value) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  for (const tick of ticks(y0, y1)) {
    parts.push(svg("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }));
    parts.push(svg("text", { class: "tick", x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, yText(tick)));
  }
  for (const tick of ticks(x0, x1)) parts.push(svg("text", { class: "tick", x: x(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, xText(tick)));
  parts.push(svg("text", { class: "tick", x: width - RIGHT, y: HEIGHT - 2, "text-anchor": "end" }, xLabel));
  if (baseline !== null) parts.push(svg("line", { class: "baseline", x1: LEFT, x2: width - RIGHT, y1: y(baseline), y2: y(baseline) }));
  if (at !== null) parts.push(svg("line", { class: "at", x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM }));
  series.forEach((one, i) => {
    const path = one.points.map(([u, v], k) => `${k ? "L" : "M"}${x(u).toFixed(1)} ${y(v).toFixed(1)}`).join("");
    parts.push(svg("path", { class: `series s${i % 6}`, d: path || "M0 0", "stroke-dasharray": DASHES[i % 6] }));
    if (one.points.length < 3) for (const [u, v] of one.points) parts.push(svg("circle", { class: `point s${i % 6}`, cx: x(u), cy: y(v), r: 3 }));
  });
  for (const mark of marks) {
    const [u, v] = [x(mark.x), y(mark.y)];
    parts.push(svg("path", { class: "mark", d: `M${u} ${v + 3}l-6 11h12z` }, svg("title", {}, mark.text)));
  }
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, ...parts);
  if (click) {
    picture.classList.add("clickable");
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const u = ((event.clientX - box.left) / box.width) * width;
      click(x0 + ((u - LEFT) / (width - LEFT - RIGHT)) * (x1 - x0));
    });
  }
  return picture;
}

export function legend(series) {
  return el("ul", { class: "legend" }, series.map((one, i) => el("li", {},
    svg("svg", { class: "key", viewBox: "0 0 30 8", "aria-hidden": "true" }, svg("path", { class: `series s${i % 6}`, d: "M0 4H30", "stroke-dasharray": DASHES[i % 6] })),
    one.name)));
}

// The figures of a chart, at most so many rows of them.
export function table(series, xLabel, most = 25) {
  const xs = [...new Set(series.flatMap((one) => one.points.map(([x]) => x)))].sort((a, b) => a - b);
  const step = Math.ceil(xs.length / most) || 1;
  const values = series.map((one) => new Map(one.points));
  const rows = xs.filter((_, i) => (xs.length - 1 - i) % step === 0);
  return el("details", {}, el("summary", {}, T.asTable), el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": T.asTable }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, xLabel), series.map((one) => el("th", { scope: "col" }, one.name)))),
    el("tbody", {}, rows.map((x) => el("tr", {}, el("th", { scope: "row" }, short(x)), values.map((of) => el("td", {}, of.has(x) ? short(of.get(x)) : ""))))))));
}

export function smoothed(points, width) {
  return points.map(([x], i) => {
    const near = points.slice(Math.max(0, i - width), i + width + 1);
    return [x, near.reduce((sum, [, y]) => sum + y, 0) / near.length];
  });
}

function bounds(values) {
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
}

function ticks(low, high) {
  const rough = (high - low) / 4;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) found.push(Number(tick.toPrecision(10)));
  return found;
}

export function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`;
  return String(Number(value.toPrecision(3)));
}
