// The view of recorded games: opens files, and lists, searches and sorts their games.

import { button, el, kept, keepingFocus, labelled, say } from "./dom.js";
import { T } from "./texts.js";

const SHOWN = 100;
const KEPT = "boardenvs-records";
// The first move of Othello can be turned into f5: by x and y of the others, 0 to 7.
const TURNS = { c4: (x, y) => [7 - x, 7 - y], e6: (x, y) => [y, x], d3: (x, y) => [7 - y, 7 - x] };

export class RecordsView {
  constructor(app) {
    this.app = app;
    Object.assign(this, { name: "", games: [], rows: [], found: [], ...kept.get(KEPT) });
    this.sort = { key: "number", up: true };
    this.shown = SHOWN;
    this.file = el("input", { type: "file", accept: ".jsonl,.gz,.wtb,.jou,.pgn,.pdn,.sgf,.hsgf,.ggf,.obf,.txt", multiple: true, onchange: () => this.openAll(this.file.files) });
    this.plain = el("select");
    this.pasted = el("input", { type: "text", spellcheck: false, autocomplete: "off", maxLength: 4000, onchange: () => this.#paste() });
    this.search = el("input", { type: "search", spellcheck: false, autocomplete: "off", oninput: () => { this.shown = SHOWN; this.render(); } });
    this.status = el("p", { role: "status" });
    this.list = el("div", { class: "scroll tall", tabIndex: 0, role: "region", "aria-label": T.views.records });
    this.tree = el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": T.goneOn });
    this.searchField = labelled(T.search, this.search);
    this.element = el("section", { "aria-label": T.views.records, class: "drop" },
      el("div", { class: "fields" }, labelled(T.openFile, this.file, T.openHelp), labelled(T.pasted, this.pasted, T.pastedHelp), labelled(T.plainGame, this.plain), this.searchField),
      this.status, this.list, (this.goneOn = el("div", {}, el("h3", {}, T.goneOn), this.tree)));
    for (const type of ["dragover", "dragenter"]) document.addEventListener(type, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
    document.addEventListener("drop", (event) => {
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.app.setView("records");
      this.openAll(event.dataTransfer.files);
    });
    this.prepare();
  }

  welcome(hello) {
    const texts = Object.entries(hello.games).flatMap(([text, variants]) => (variants.length ? variants : [text]));
    const current = this.plain.value;
    this.plain.replaceChildren(...texts.map((text) => el("option", { value: text }, text)));
    if (current) this.plain.value = current;
  }

  async openAll(files) {
    const names = (file) => /\.jou$/i.test(file.name);
    for (const file of [...files].sort((a, b) => names(a) - names(b))) await (names(file) ? this.#namePlayers(file) : this.open(file));
  }

  // WTHOR's file of players: 16 bytes, then 20 for each name.
  async #namePlayers(file) {
    const bytes = await file.arrayBuffer();
    const name = (number) => new TextDecoder("latin1").decode(bytes.slice(16 + 20 * number, 36 + 20 * number)).split("\0")[0].trim();
    for (const game of this.games) if (game.info.black !== undefined) game.players = [name(game.info.black), name(game.info.white)];
    this.take(this.games, this.name);
  }

  // Returns whether the file has been read.
  async open(file) {
    if (!file) return false;
    this.status.textContent = T.loading(file.name);
    try {
      const answer = await fetch(`${this.app.connection.proven("records", file.name)}?game=${encodeURIComponent(this.plain.value || "othello")}`, { method: "POST", body: file });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.error);
      this.take(found.games, file.name);
      return true;
    } catch (error) {
      this.status.textContent = T.error(error.message);
      return false;
    } finally {
      this.file.value = "";
    }
  }

  // Open a game from typed or pasted moves, or a position of 64 characters.
  async #paste() {
    const text = this.pasted.value.trim(), { table } = this.app;
    if (/^[-._*xobw]{64}/i.test(text)) await table.openGame({ game: this.plain.value, start: text, moves: [] }).catch((error) => table.fail(error));
    else if (text && await this.open(new File([text], "moves.txt")) && this.games.length) await this.openGame(1);
  }

  take(games, name) {
    this.games = games;
    this.name = name;
    this.search.value = "";
    this.shown = SHOWN;
    this.sort = { key: "number", up: true };
    this.prepare();
    this.render();
    say(T.loaded(games.length, name));
    if (kept.set(KEPT, { name, games })) return;
    kept.set(KEPT, null);
    this.status.textContent += ` ${T.tooLarge}`;
  }

  prepare() {
    this.rows = this.games.map((game, i) => {
      const info = Object.entries(game.info).map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
      const [first, second] = game.players ?? [game.info.black !== undefined ? `no. ${game.info.black}` : "", game.info.white !== undefined ? `no. ${game.info.white}` : ""];
      const result = game.goals ? game.goals.map((goal) => goal / 100).join("–").replaceAll("0.5", "½") : "";
      const plies = game.moves ? game.moves.split(" ").length : 0;
      const row = { number: i + 1, game: game.game, first, second, result, plies, info, wrong: game.error ?? "" };
      return { ...row, text: Object.values(row).join(" ").toLowerCase(), line: turned(game, (game.moves ?? "").split(" ")).join(" ") };
    });
  }

  render() {
    this.searchField.hidden = !this.rows.length;
    if (!this.rows.length) {
      if (!this.status.textContent) this.status.textContent = T.noRecords;
      return this.list.replaceChildren();
    }
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.found = this.rows.filter((row) => words.every((word) => row.text.includes(word)));
    const { key, up } = this.sort, sign = up ? 1 : -1;
    found.sort((a, b) => sign * (typeof a[key] === "number" ? a[key] - b[key] : a[key].localeCompare(b[key], "en", { numeric: true })) || a.number - b.number);
    const said = { number: true, game: this.rows.some((row) => row.game !== this.rows[0].game) };
    const columns = Object.keys(T.columns).filter((column) => said[column] ?? this.rows.some((row) => row[column] !== ""));
    const rows = found.slice(0, this.shown);
    this.status.textContent = `${T.loaded(this.rows.length, this.name)}. ${T.found(rows.length, found.length, this.rows.length)}`;
    keepingFocus(this.list, () => this.list.replaceChildren(el("table", { class: "records" },
      el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", "aria-sort": column === key ? (up ? "ascending" : "descending") : "none" },
        button(T.columns[column], () => this.sortBy(column)))))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.number === this.opened ? "current" : "" }, columns.map((column) =>
        column === "number"
          ? el("th", { scope: "row" }, button(String(row.number), () => this.openGame(row.number), { "aria-label": T.openGame(row.number) }))
          : el("td", { class: column === "plies" ? "number" : "", onclick: () => this.openGame(row.number) }, String(row[column]))))))),
      rows.length < found.length ? button(T.more, () => { this.shown += 5 * SHOWN; this.render(); }) : ""));
  }

  // The moves that the found games played from the position on the board, with their results.
  show() {
    const { tree } = this.app.table, line = tree.line(), first = tree.through()[1]?.move;
    const played = turned(line, line.moves).map((move) => `${move} `).join("");
    const counts = new Map();
    for (const row of this.found) {
      const { game, start, goals } = this.games[row.number - 1];
      if (game !== line.game || start !== line.start || !row.line.startsWith(played) || row.line.length <= played.length) continue;
      const [next] = turned(line, [row.line.slice(played.length).split(" ", 1)[0]], first), sum = counts.get(next) ?? [0, 0, 0, 0];
      sum[0]++;
      if (goals) sum[goals[0] > goals[1] ? 1 : goals[0] < goals[1] ? 2 : 3]++;
      counts.set(next, sum);
    }
    const rows = [...counts].sort(([, a], [, b]) => b[0] - a[0]);
    this.tree.replaceChildren(rows.length ? el("table", {},
      el("thead", {}, el("tr", {}, T.goneOnColumns(this.app.table.info.sides).map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows.map(([move, [all, ...results]]) => el("tr", {}, el("th", { scope: "row" }, button(this.app.table.nameOf({ move, parent: tree.node }), () => this.app.play(move))),
        el("td", { class: "number" }, all.toLocaleString("en")), results.map((number) => el("td", { class: "number" }, T.percent(number / all)))))))
      : this.rows.length ? T.noneGoneOn : "");
    this.goneOn.hidden = !this.rows.length;
  }

  sortBy(key) {
    this.sort = { key, up: this.sort.key === key ? !this.sort.up : true };
    this.render();
  }

  async openGame(number) {
    const game = this.games[number - 1];
    this.opened = number;
    try {
      await this.app.table.openGame({ ...game, moves: game.moves ? game.moves.split(" ") : [], ply: 0 });
    } catch (error) {
      this.app.table.fail(error);
    }
    this.render();
    this.app.toBoard();
  }
}

// Moves of Othello as if the first one had been f5, or back again; those of other games as they are.
function turned({ game }, moves, first = moves[0]) {
  const turn = /^(othello|reversi)/.test(game) && TURNS[first];
  const one = (move) => { const [x, y] = turn("abcdefgh".indexOf(move[0]), move[1] - 1); return `${"abcdefgh"[x]}${y + 1}`; };
  return turn ? moves.map((move) => (move.length === 2 ? one(move) : move)) : moves;
}
