// The view of recorded games: opens files, and lists, searches and sorts their games.

import { button, el, labelled, say } from "./dom.js";
import { T } from "./texts.js";

const SHOWN = 100;
const KEPT = "boardenvs-records";

export class RecordsView {
  constructor(app) {
    this.app = app;
    this.games = this.rows = [];
    this.name = "";
    this.sort = { key: "number", up: true };
    this.shown = SHOWN;
    this.file = el("input", { type: "file", accept: ".jsonl,.gz,.wtb,.txt", onchange: () => this.open(this.file.files[0]) });
    this.plain = el("select");
    this.pasted = el("input", { type: "text", spellcheck: false, autocomplete: "off", maxLength: 4000, onchange: () => this.#paste() });
    this.search = el("input", { type: "search", spellcheck: false, autocomplete: "off", oninput: () => { this.shown = SHOWN; this.render(); } });
    this.status = el("p", { role: "status" });
    this.list = el("div", { class: "scroll tall", tabIndex: 0, role: "region", "aria-label": T.views.records });
    this.searchField = labelled(T.search, this.search);
    this.element = el("section", { "aria-label": T.views.records, class: "drop" },
      el("div", { class: "fields" }, labelled(T.openFile, this.file, T.openHelp), labelled(T.pasted, this.pasted, T.pastedHelp), labelled(T.plainGame, this.plain), this.searchField),
      this.status, this.list);
    for (const type of ["dragover", "dragenter"]) document.addEventListener(type, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
    document.addEventListener("drop", (event) => {
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.app.setView("records");
      this.open(event.dataTransfer.files[0]);
    });
    this.#restore();
  }

  welcome(hello) {
    const texts = Object.entries(hello.games).flatMap(([text, variants]) => (variants.length ? variants : [text]));
    const current = this.plain.value;
    this.plain.replaceChildren(...texts.map((text) => el("option", { value: text }, text)));
    if (current) this.plain.value = current;
  }

  // Returns whether the file has been read.
  async open(file) {
    if (!file) return false;
    this.status.textContent = T.loading(file.name);
    const about = new URLSearchParams({ name: file.name, game: this.plain.value || "othello" });
    try {
      const answer = await fetch(`${await this.app.connection.once()}?${about}`, { method: "POST", body: file });
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
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ name, games }));
    } catch {
      sessionStorage.removeItem(KEPT);
      this.status.textContent += ` ${T.tooLarge}`;
    }
  }

  #restore() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEPT));
      if (kept) Object.assign(this, { games: kept.games, name: kept.name });
      this.prepare();
    } catch { // nothing was kept, or not by this page
      this.games = this.rows = [];
    }
  }

  prepare() {
    this.rows = this.games.map((game, i) => {
      const info = Object.entries(game.info).map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
      const [first, second] = game.players ?? [game.info.black !== undefined ? `no. ${game.info.black}` : "", game.info.white !== undefined ? `no. ${game.info.white}` : ""];
      const result = game.goals ? game.goals.map((goal) => goal / 100).join("–").replaceAll("0.5", "½") : "";
      const plies = game.moves ? game.moves.split(" ").length : 0;
      const row = { number: i + 1, game: game.game, first, second, result, plies, info, wrong: game.error ?? "" };
      return { ...row, text: Object.values(row).join(" ").toLowerCase() };
    });
  }

  render() {
    this.searchField.hidden = !this.rows.length;
    if (!this.rows.length) {
      if (!this.status.textContent) this.status.textContent = T.noRecords;
      return this.list.replaceChildren();
    }
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.rows.filter((row) => words.every((word) => row.text.includes(word)));
    const { key, up } = this.sort, sign = up ? 1 : -1;
    found.sort((a, b) => sign * (typeof a[key] === "number" ? a[key] - b[key] : a[key].localeCompare(b[key], "en", { numeric: true })) || a.number - b.number);
    const said = { number: true, game: this.rows.some((row) => row.game !== this.rows[0].game) };
    const columns = Object.keys(T.columns).filter((column) => said[column] ?? this.rows.some((row) => row[column] !== ""));
    const rows = found.slice(0, this.shown);
    this.status.textContent = `${T.loaded(this.rows.length, this.name)}. ${T.found(rows.length, found.length, this.rows.length)}`;
    this.list.replaceChildren(el("table", { class: "records" },
      el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", "aria-sort": column === key ? (up ? "ascending" : "descending") : "none" },
        button(T.columns[column], () => this.sortBy(column)))))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.number === this.opened ? "current" : "" }, columns.map((column) =>
        column === "number"
          ? el("th", { scope: "row" }, button(String(row.number), () => this.openGame(row.number), { "aria-label": T.openGame(row.number) }))
          : el("td", { class: column === "plies" ? "number" : "", onclick: () => this.openGame(row.number) }, String(row[column]))))))),
      rows.length < found.length ? button(T.more, () => { this.shown += 5 * SHOWN; this.render(); }) : "");
  }

  sortBy(key) {
    this.sort = { key, up: this.sort.key === key ? !this.sort.up : true };
    this.render();
    this.list.querySelector('[aria-sort="ascending"] button, [aria-sort="descending"] button')?.focus();
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
    this.list.querySelector(`[aria-label="${T.openGame(number)}"]`)?.focus({ preventScroll: true });
    this.app.toBoard();
  }
}
