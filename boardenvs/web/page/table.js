// The current game, its players, and the agents that move for them.

import { Lost } from "./connection.js";
import { kept, say } from "./dom.js";
import { Tree } from "./moves.js";
import { T } from "./texts.js";

const KEPT = "boardenvs";
const WATCHED = 0.6; // seconds a move

export class Table extends EventTarget {
  tree = null;
  seats = ["human", "human"];
  paused = false;
  speed = 0; // seconds between the moves of agents that play each other
  seconds = null; // thinking time of agents that search; null: their own
  view = "play";
  watched = null; // {latest, won, games, counted} while two policies play each other
  message = ""; // shown beside the caption
  problem = "";
  #thinking = null; // {abort, agent} while an agent thinks about its move
  #infos = new Map();
  #openings = 0;

  constructor(connection) {
    super();
    this.connection = connection;
  }

  get info() { return this.tree.info; }
  get node() { return this.tree.node; }
  get position() { return this.tree?.node.position ?? null; }
  get thinking() { return this.#thinking?.agent ?? null; }
  get over() { return this.position?.over || this.tree.resigned() !== null; }
  get agentsOnly() { return this.seats.every((seat) => seat !== "human"); }
  // Whether the user may move.
  get open() { return !this.over && ((this.view !== "play" && !this.watched) || this.seats[this.position?.to_move] === "human"); }

  side(role) { return this.info.sides[role]; }
  // Whether a game of the user would be lost.
  get running() { return Boolean(this.tree?.played) && !this.tree.finished; }

  // Tell the page; `by` is "reply" for an agent's move, "step" for steps through the game.
  changed(by = null) {
    this.dispatchEvent(new CustomEvent("change", { detail: by }));
    this.keep();
  }

  async gameInfo(text) {
    if (!this.#infos.has(text)) {
      const { game } = await this.connection.request({ do: "game", game: text });
      this.#infos.set(text, game);
      this.#infos.set(game.text, game);
    }
    return this.#infos.get(text);
  }

  // A move as people write it, "Nf3" for g1f3, and its number as they count: "7.", in chess "4.", "4...".
  nameOf({ move, parent }) { return parent?.position?.legal.find(([name]) => name === move)?.[3] ?? move; }
  numberOf({ parent }) { return parent?.position?.number ?? ""; }
  titleOf(node) { return `${this.numberOf(node)} ${this.nameOf(node)}`; }

  async newGame(text, start = null, seats = this.seats) {
    const opening = ++this.#openings;
    const info = await this.gameInfo(text);
    const tree = new Tree(info, start);
    await this.load(tree, tree.root);
    if (opening !== this.#openings) return; // another one has begun
    this.#take(tree);
    this.seats = [...seats];
    this.paused = false;
    say(`${T.newGame}: ${info.name}. ${this.caption()}`);
    this.changed();
    this.turn();
  }

  // A game from a file or an address, shown after `ply` plies.
  async openGame({ game, start = null, moves, players = null, info = {}, goals = null, ply = moves.length, seats = ["human", "human"] }) {
    const opening = ++this.#openings;
    const tree = new Tree(await this.gameInfo(game), start);
    const last = tree.addLine(moves);
    const wrong = await this.load(tree, last);
    if (opening !== this.#openings) return;
    if (!wrong) {
      const { resigned, ...others } = info, role = tree.info.sides.indexOf(resigned);
      if (role >= 0) tree.resignation = { role, node: last };
      tree.record = { players, info: role < 0 ? info : others, goals, end: last };
    }
    const path = last.path.filter((node) => node.position);
    tree.end = path.at(-1);
    tree.node = path[Math.max(0, Math.min(ply, path.length - 1))];
    this.#take(tree);
    this.seats = [...seats];
    this.paused = true;
    this.problem = wrong ? T.broken(wrong) : "";
    say(this.caption());
    this.changed();
  }

  #take(tree) {
    this.abort();
    this.tree = tree;
  }

  // Load the positions up to a node. An illegal move leaves the tree, and its error is returned; else null.
  async load(tree, node) {
    const path = node.path, since = path.findIndex((n) => !n.position);
    if (since < 0) return null;
    const { positions, wrong } = await this.connection.request({ do: "line", line: tree.line(node), since });
    positions.forEach((position, i) => { path[since + i].position = position; });
    if (wrong) path[since + positions.length].cut();
    return wrong;
  }

  async goTo(node, by = null) {
    this.abort();
    this.paused = true;
    const tree = this.tree;
    try {
      await this.load(tree, node);
    } catch (error) {
      return this.fail(error);
    }
    if (tree !== this.tree || !node.position) return;
    tree.goTo(node);
    this.changed(by);
  }

  // Step through the game or a variation; the last position is always the game's.
  step(plies) {
    const line = this.tree.through(), at = line.indexOf(this.node) + plies;
    const node = at === Infinity ? this.tree.end : line[Math.max(0, Math.min(line.length - 1, at))];
    if (node === this.node) return;
    this.goTo(node, "step").then(() => say(this.#news(node)));
  }

  #news(node) {
    const position = node.position;
    if (!node.parent) return this.caption(node);
    return `${T.played(this.side(node.parent.position.to_move), this.nameOf(node))}. ${this.caption(node)}`;
  }

  // A move of the user.
  async play(name) {
    if (!this.open) return;
    this.abort();
    const tree = this.tree, node = tree.child(this.node, name);
    try {
      const wrong = await this.load(tree, node);
      if (wrong) throw new Error(wrong);
    } catch (error) {
      if (!node.position) node.cut();
      return this.fail(error);
    }
    if (tree !== this.tree || this.node !== node.parent) return;
    this.#make(node);
    tree.played ||= this.view === "play";
    this.paused = false;
    say(this.#news(node));
    this.changed();
    this.turn();
  }

  // Let agents move as long as it is their turn.
  async turn() {
    while ((this.view === "play" || this.watched) && !this.paused && !this.#thinking && this.tree && this.position && !this.over) {
      const seat = this.seats[this.position.to_move];
      if (seat === "human") return;
      const { tree, node } = this;
      const thinking = (this.#thinking = { agent: seat, abort: new AbortController() });
      const began = performance.now();
      let answer = null;
      this.dispatchEvent(new Event("change"));
      try {
        answer = await this.connection.request({ do: "move", line: tree.line(), agent: seat, seconds: this.seconds, seed: tree.seed ?? (tree.seed = Math.floor(Math.random() * 2 ** 40)) }, { signal: thinking.abort.signal });
      } catch (error) {
        if (this.#thinking === thinking) this.#thinking = null;
        if (error instanceof Lost) return; // it is asked again when the server is back
        this.paused = true;
        return this.fail(error);
      }
      if (this.#thinking !== thinking) return;
      if (this.agentsOnly && answer.position) await pause(1000 * (this.watched ? WATCHED : this.speed) - (performance.now() - began), thinking.abort.signal);
      if (this.#thinking !== thinking) return;
      this.#thinking = null;
      if (!answer.position || tree !== this.tree || node !== this.node) return;
      const child = tree.child(node, answer.position.move);
      child.position = answer.position;
      this.#make(child);
      this.message = "";
      say(this.#news(child));
      this.changed("reply");
    }
  }

  // A move in Play goes on with the game, unless that has ended. Elsewhere it is a variation of a game
  // that was played or opened.
  #make(node) {
    const { tree } = this, game = tree.end.path, goesOn = this.view === "play" || this.watched || !(tree.played || tree.record?.end.ply || this.agentsOnly);
    if (goesOn && !tree.finished && game.includes(node.parent) && !game.includes(node)) tree.end = node;
    tree.goTo(node);
  }

  // Go on with a variation in place of the game.
  adopt() {
    this.tree.end = this.node;
    this.seat(this.seats);
  }

  // Continue with other players.
  seat(seats) {
    this.abort();
    this.seats = [...seats];
    this.paused = false;
    this.changed();
    this.turn();
  }

  // Add a variation to a node, and show its first moves.
  async tryLine(node, moves, shown = 1) {
    const end = this.tree.addLine(moves, node);
    this.tree.follow(end);
    await this.load(this.tree, end).catch(() => {}); // names of all its moves; goTo says what fails
    await this.goTo(end.path[node.ply + Math.min(shown, moves.length)]);
  }

  // Stop the agent that thinks, and take away what was said before.
  abort() {
    this.message = this.problem = "";
    const thinking = this.#thinking;
    this.#thinking = null;
    thinking?.abort.abort();
  }

  pause(paused) {
    this.abort();
    this.paused = paused;
    this.message = paused ? T.paused : "";
    this.changed();
    this.turn();
  }

  // Back to the user's last turn; undo and redo stop agents.
  undo() {
    let node = this.node.parent;
    if (this.tree.resigned() !== null) {
      node = this.node;
      this.tree.resignation = null;
    }
    while (node?.parent && this.#isAgents(node)) node = node.parent;
    if (node) this.goTo(node).then(() => say(`${T.undo}. ${this.#news(node)}`));
  }

  redo() {
    const line = this.tree.through();
    let at = line.indexOf(this.node) + 1;
    while (at < line.length - 1 && line[at].position && this.#isAgents(line[at])) at++;
    if (line[at]) this.goTo(line[at]).then(() => say(`${T.redo}. ${this.#news(line[at])}`));
  }

  #isAgents(node) {
    return !this.agentsOnly && node.position && this.seats[node.position.to_move] !== "human";
  }

  resign() {
    if (this.over || this.tree.finished) return;
    const mover = this.position.to_move;
    this.abort();
    this.tree.end = this.node;
    this.tree.resignation = { role: this.seats[mover] === "human" ? mover : 1 - mover, node: this.node };
    say(this.caption());
    this.changed();
  }

  caption(node = this.node) {
    const loser = this.tree.resigned(node);
    if (loser !== null) return T.resigned(this.side(loser), this.side(1 - loser));
    return node.position.caption.replace(/(?<=\d)-(?=\d)/g, "–");
  }

  fail(error) {
    this.problem = error instanceof Lost ? T.notDone : T.error(error.message);
    say(this.problem);
    this.dispatchEvent(new Event("change"));
  }

  // Keep the game in this tab for a reload.
  keep() {
    if (!this.tree) return;
    const { seats, paused, speed, seconds, view } = this;
    kept.set(KEPT, { tree: this.tree, seats, paused, speed, seconds, view, seed: this.tree.seed, hash: location.hash });
  }

  static kept() { return kept.get(KEPT); }

  async restore({ tree: told, seats: [first, second], seed, paused, speed, seconds }) {
    const tree = Tree.fromJSON(await this.gameInfo(told.game), told);
    for (const node of [tree.end, tree.node]) await this.load(tree, node);
    this.#take(tree);
    tree.seed = seed;
    Object.assign(this, { seats: [String(first), String(second)], paused, speed, seconds }); // others may have kept anything
    this.changed();
    this.turn();
  }
}

function pause(milliseconds, signal) {
  if (milliseconds <= 0) return null;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); });
  });
}
