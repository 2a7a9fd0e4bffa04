// A game as a tree of moves: what was played, what else was tried, and where we are.

class Node {
  constructor(move, parent) {
    this.move = move;
    this.parent = parent;
    this.children = [];
    this.latest = null; // the child that was visited last
    this.position = null; // as the server describes it
    this.explanation = null;
    this.review = null;
    this.ply = parent ? parent.ply + 1 : 0;
  }
  get path() {
    const found = [];
    for (let node = this; node; node = node.parent) found.unshift(node);
    return found;
  }
}

export class Tree {
  constructor(info, start = null) {
    this.info = info;
    this.start = start;
    this.root = this.node = new Node(null, null);
    this.resignation = null; // {role, node}: who resigned, and where
    this.played = false; // whether somebody at the page has moved in it, and not only looked
    this.record = null; // {players, info, goals, end}: what a file tells of the game, and the node where it ended
  }

  line(node = this.node) {
    return { game: this.info.text, start: this.start, moves: node.path.slice(1).map((n) => n.move) };
  }

  // The role that resigned at this node, null where none did.
  resigned(node = this.node) {
    return this.resignation?.node === node ? this.resignation.role : null;
  }

  // From the start over this node to the end, which is where somebody resigned, if anybody did.
  mainLine(node = this.node) {
    const found = node.path;
    for (let last = node; this.resigned(last) === null && (last = last.latest ?? last.children[0]); ) found.push(last);
    return found;
  }

  child(node, move) {
    let found = node.children.find((child) => child.move === move);
    if (!found) node.children.push((found = new Node(move, node)));
    return found;
  }

  goTo(node) {
    this.node = node;
    for (let n = node; n.parent; n = n.parent) n.parent.latest = n;
  }

  // The node of these moves, null where they are not in the tree.
  find(moves) {
    let node = this.root;
    for (const move of moves) node = node?.children.find((child) => child.move === move);
    return node ?? null;
  }

  addLine(moves, node = this.root) {
    for (const move of moves) node = this.child(node, move);
    return node;
  }

  // Every node as [move, children]; texts of depth are no nested lists: JSON has a bound for these.
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
      at: number.get(this.node), end: number.get(this.mainLine().at(-1)),
      resignation: this.resignation && { ...this.resignation, node: number.get(this.resignation.node) },
      record: this.record && { ...this.record, end: number.get(this.record.end) },
    };
  }

  static fromJSON(info, kept) {
    const tree = new Tree(info, kept.start);
    const nodes = [tree.root];
    for (const [move, parent] of kept.nodes.slice(1)) nodes.push(tree.child(nodes[parent], move));
    tree.goTo(nodes[kept.end] ?? tree.root);
    tree.node = nodes[kept.at] ?? tree.root;
    tree.resignation = kept.resignation && { ...kept.resignation, node: nodes[kept.resignation.node] };
    tree.record = kept.record && { ...kept.record, end: nodes[kept.record.end] };
    return tree;
  }
}

// Names of squares and moves with rows counted from the other end.
export const turned = (text, rows) => text.replace(/(?<=[a-p])\d+/g, (row) => String(rows + 1 - row));

// The share of a win, 0 to 1, that a value stands for: one scale for bars and graphs.
export function share(value, unit) {
  if (value === null || value === undefined) return null;
  if (unit === "score") return (1 + Math.max(-1, Math.min(1, value))) / 2;
  return 1 / (1 + Math.exp(-value / (unit === "margin" ? 8 : 150)));
}
