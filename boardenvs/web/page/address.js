// The address of the current state: game, moves, ply, players and view.

const VIEWS = ["play", "analyse", "records", "runs"];

// "#game=othello&moves=f5+d6&ply=1&view=play&second=level:4".
export function write({ tree, node, seats, view }) {
  const { game, start, moves } = tree.line(tree.mainLine().at(-1));
  const told = new URLSearchParams({ game, moves: moves.join(" "), ply: node.ply, view });
  if (start) told.set("start", start);
  for (const [i, name] of ["first", "second"].entries()) if (seats[i] !== "human") told.set(name, seats[i]);
  return `#${told}`.replaceAll("%3A", ":").replaceAll("%2C", ",");
}

export function read(hash) {
  const told = new URLSearchParams(hash.slice(1));
  const moves = (told.get("moves") ?? "").split(" ").filter(Boolean);
  const ply = Number(told.get("ply") ?? moves.length), view = told.get("view");
  return {
    game: told.get("game") ?? "othello", start: told.get("start") || null, moves,
    ply: Number.isInteger(ply) && ply >= 0 ? ply : moves.length,
    view: VIEWS.includes(view) ? view : "analyse",
    seats: ["first", "second"].map((name) => told.get(name) || "human"),
  };
}
