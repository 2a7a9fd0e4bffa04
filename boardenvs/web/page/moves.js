// The moves of a game with what else was tried, as buttons.

import { button, el } from "./dom.js";
import { T } from "./texts.js";

export function moveList(table, shown, markOf) {
  const main = new Set(table.tree.mainLine());
  const one = (node) => {
    const mark = markOf(node), current = node === table.node ? { "aria-current": "true" } : {};
    const sign = mark && mark !== "good" ? el("span", { class: `sign ${mark}`, title: T.marks[mark] }, T.signs[mark]) : "";
    const made = button(shown(node.move), () => table.goTo(node), current);
    made.append(sign);
    return el("li", { class: "ply" }, el("span", { class: "number" }, `${node.ply}.`), made);
  };
  // A line from one node on, and the variations beside its nodes.
  const line = (node) => {
    const items = [];
    while (node) {
      items.push(one(node));
      const others = node.parent.children.filter((child) => child !== node);
      const first = node.parent.children.find((child) => main.has(child)) ?? node.parent.children[0];
      if (node === first) {
        for (const other of others) if (!main.has(other)) items.push(el("li", { class: "variation" }, el("ol", { "aria-label": T.variation }, line(other))));
      }
      node = node.children.find((child) => main.has(child)) ?? node.children[0];
    }
    return items;
  };
  const first = table.tree.mainLine()[1];
  const start = el("li", { class: "ply" }, button(T.start, () => table.goTo(table.tree.root), table.node === table.tree.root ? { "aria-current": "true" } : {}));
  return el("ol", { class: "moves" }, start, first ? line(first) : "");
}
