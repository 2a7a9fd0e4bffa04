// The moves of a game as a tree of variations, and as a list of buttons.

import { button, el } from "./dom.js";
import { T } from "./texts.js";

class Node {
  constructor(move, parent) {
    this.move = move;
    this.parent = parent;
    this.children = [];
    this.latest = null; // the child visited last
    this.position = null; // from the server
    this.explanation = null;
    this.ply = parent ? parent.ply + 1 : 0;
  }
  get path() {
    const found = [];
    for (let node = this; node; node = node.parent) found.unshift(node);
    return found;
  }
  cut() { this.parent.children = this.parent.children.filter((child) => child !== this); }
}

export class Tree {
  constructor(info, start = null) {
    this.info = info;
    this.start = start;
    this.root = this.node = this.end = new Node(null, null); // `end`: the last position of the game; all else are variations
    this.resignation = null; // {role, node}
    this.played = false; // whether a move was made in it, and not only shown
    this.record = null; // {players, info, goals, end}: facts from a file, and the last node of its game
  }

  line(node = this.node) {
    return { game: this.info.text, start: this.start, moves: node.path.slice(1).map((n) => n.move) };
  }

  // The role that resigned at this node, or null.
  resigned(node = this.node) {
    return this.resignation?.node === node ? this.resignation.role : null;
  }

  // Whether the game has ended: by its rules, by resignation, or as its file says.
  get finished() { return Boolean(this.end.position?.over || this.resigned(this.end) !== null || (this.record?.end === this.end && this.record.goals)); }

  // The position of the game from which the current one was reached.
  get branch() { const game = new Set(this.end.path); return this.node.path.findLast((node) => game.has(node)); }

  // The game, or from a variation that variation to its end.
  through() {
    if (this.branch === this.node) return this.end.path;
    const found = this.node.path;
    for (let last = this.node; (last = last.latest ?? last.children[0]); ) found.push(last);
    return found;
  }

  child(node, move) {
    let found = node.children.find((child) => child.move === move);
    if (!found) node.children.push((found = new Node(move, node)));
    return found;
  }

  goTo(node) { this.follow(this.node = node); }

  follow(node) { for (; node.parent; node = node.parent) node.parent.latest = node; }

  // The node after these moves, or null.
  find(moves) {
    let node = this.root;
    for (const move of moves) node = node?.children.find((child) => child.move === move);
    return node ?? null;
  }

  addLine(moves, node = this.root) {
    for (const move of moves) node = this.child(node, move);
    return node;
  }

  // All nodes as [move, number of the parent], since JSON limits the depth of nested lists.
  toJSON() {
    const nodes = [], number = new Map();
    const stack = [this.root];
    while (stack.length) {
      const node = stack.pop();
      number.set(node, nodes.length);
      nodes.push([node.move, node.parent ? number.get(node.parent) : -1]);
      for (let i = node.children.length - 1; i >= 0; i--) stack.push(node.children[i]);
    }
    return {
      game: this.info.text, start: this.start, nodes,
      at: number.get(this.node), end: number.get(this.end), played: this.played,
      resignation: this.resignation && { ...this.resignation, node: number.get(this.resignation.node) },
      record: this.record && { ...this.record, end: number.get(this.record.end) },
    };
  }

  static fromJSON(info, kept) {
    const tree = new Tree(info, kept.start);
    const nodes = [tree.root];
    for (const [move, parent] of kept.nodes.slice(1)) nodes.push(tree.child(nodes[parent], move));
    tree.end = nodes[kept.end] ?? tree.root;
    tree.played = kept.played;
    tree.goTo(nodes[kept.at] ?? tree.root);
    tree.resignation = kept.resignation && { ...kept.resignation, node: nodes[kept.resignation.node] };
    tree.record = kept.record && { ...kept.record, end: nodes[kept.record.end] };
    return tree;
  }
}

export function moveList(table, markOf) {
  const main = new Set(table.tree.end.path);
  const one = (node, begins) => {
    const mark = markOf(node), current = node === table.node ? { "aria-current": "true" } : {}, number = table.numberOf(node);
    const sign = mark && mark !== "good" ? el("span", { class: `sign ${mark}`, title: T.marks[mark] }, T.signs[mark]) : "";
    const made = button(table.nameOf(node), () => table.goTo(node), current);
    made.append(sign);
    return el("li", { class: "ply" }, el("span", { class: "number" }, begins || !number.endsWith("...") ? number : ""), made);
  };
  // What follows a node: the game, or a variation, and what was tried in its place.
  const after = (node, items = []) => {
    for (let next; node; node = next) {
      next = node.children.find((child) => main.has(child) || !main.has(node));
      if (next) items.push(one(next, !items.at(-1)?.matches(".ply")));
      for (const other of node.children) if (other !== next) items.push(el("li", { class: "variation" }, el("ol", { "aria-label": T.variation }, after(other, [one(other, true)]))));
    }
    return items;
  };
  const start = el("li", { class: "ply" }, button(T.start, () => table.goTo(table.tree.root), table.node === table.tree.root ? { "aria-current": "true" } : {}));
  return el("ol", { class: "moves" }, start, after(table.tree.root));
}
