// A line chart as SVG.

import { svg } from "./dom.js";

// Classes that tell lines apart: six colours, then the same in dashes.
export const line = (kind, number) => ({ class: `${kind} line-${number % 6} dash-${Math.floor(number / 6) % 3}` });

const HEIGHT = 165, LEFT = 48, RIGHT = 12, TOP = 10, BOTTOM = 22;

// lines: [[[x, y]]], y in `range`; bands: [[[x, low, high]]]; ticks: [[y, text]]; marks: [{x, y, text,
// mark}]; at: an x to highlight; click(x): called with the x of a click; width: in pixels, for the
// labels' size.
export function chart({ lines, bands = [], range: [y0, y1] = [0, 1], label, xLabel, xText = String, xRange: [x0, x1], ticks, marks = [], at, click, baseline, width }) {
  const x = (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + ((y1 - value) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  for (const [tick, text] of ticks) {
    parts.push(svg("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }));
    parts.push(svg("text", { class: "tick", x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, text));
  }
  for (const tick of steps(x0, x1)) parts.push(svg("text", { class: "tick", x: x(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, xText(tick)));
  parts.push(svg("text", { class: "tick", x: 0, y: HEIGHT - BOTTOM + 16 }, xLabel));
  parts.push(svg("line", { class: "baseline", x1: LEFT, x2: width - RIGHT, y1: y(baseline), y2: y(baseline) }));
  if (at !== undefined) parts.push(svg("line", { class: "at", x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM }));
  const drawn = (points) => points.map(([u, v], k) => `${k ? "L" : "M"}${x(u).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  for (const [number, points] of bands.entries()) {
    const edge = [...points.map(([u, low]) => [u, low]), ...points.map(([u, , high]) => [u, high]).reverse()];
    if (edge.length) parts.push(svg("path", { ...line("band", number), d: `${drawn(edge)}Z` }));
  }
  for (const [number, points] of lines.entries()) {
    const path = drawn(points);
    parts.push(svg("path", { ...line("series", number), d: path || "M0 0" }));
    if (points.length < 3) for (const [u, v] of points) parts.push(svg("circle", { ...line("point", number), cx: x(u), cy: y(v), r: 3 }));
  }
  for (const mark of marks) {
    const [u, v] = [x(mark.x), y(mark.y)];
    parts.push(svg("path", { class: `at-mark ${mark.mark}`, d: `M${u} ${v + 3}l-6 11h12z` }, svg("title", {}, mark.text)));
  }
  const picture = svg("svg", { class: `chart${click ? " clicked" : ""}`, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, ...parts);
  if (click) picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const u = ((event.clientX - box.left) / box.width) * width;
    click(x0 + ((u - LEFT) / (width - LEFT - RIGHT)) * (x1 - x0));
  });
  return picture;
}

function steps(low, high) {
  const rough = (high - low) / 4;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) found.push(Number(tick.toPrecision(10)));
  return found;
}
