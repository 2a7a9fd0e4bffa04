// The address of the current state: view, game, moves, ply, players. People write it by hand too.

const FORM = /^#(play|analyse|records|runs)\/([^?]+)\??(.*)$/;

// "#play/othello?moves=f5+d6&ply=1&tried=f4&second=level:4"; `tried` is a variation from this ply.
export function write({ tree, seats, view }) {
  const { game, start, moves } = tree.line(tree.end), { branch, node } = tree, told = new URLSearchParams();
  if (start) told.set("position", start);
  for (const [key, value] of Object.entries({ moves: moves.join(" "), ply: branch.ply })) if (moves.length) told.set(key, value);
  if (branch !== node) told.set("tried", node.path.slice(branch.ply + 1).map(({ move }) => move).join(" "));
  for (const [i, name] of ["first", "second"].entries()) if (seats[i] !== "human") told.set(name, seats[i]);
  return `#${view}/${encodeURIComponent(game)}?${told}`.replace(/%(3A|2C|2F|3D)/g, decodeURIComponent).replace(/\?$/, "");
}

// `level` is short for an opponent who does not move first; null if the address has none.
export function read(hash) {
  const [, view, game, rest] = FORM.exec(hash) ?? [];
  if (!view) throw new Error(`${hash} is not an address of a game: write #play/othello or #play/connect_four?level=3`);
  const told = new URLSearchParams(rest), names = (key) => (told.get(key) ?? "").split(" ").filter(Boolean);
  const moves = names("moves"), ply = Number(told.get("ply") ?? moves.length), level = told.get("level");
  return {
    view, game: decodeURIComponent(game), start: told.get("position") || null, moves, tried: names("tried"), level,
    ply: Number.isInteger(ply) && ply >= 0 ? ply : moves.length,
    seats: [told.get("first") || "human", told.get("second") || (level ? `level:${level}` : "human")],
  };
}
