// The view where games are played.

import { button, copy, el, labelled, say } from "./dom.js";
import { T } from "./texts.js";

export class PlayView {
  constructor(app) {
    this.app = app;
    const { table } = app;
    this.rules = el("select", { onchange: () => { this.chooseGame(this.rules.value); } });
    this.games = el("select", { onchange: () => this.chooseGame(this.games.value) });
    this.seats = [0, 1].map((role) => this.#seat(role));
    this.speed = el("input", { type: "range", min: 0, max: 3, step: 0.25, value: table.speed, oninput: () => { table.speed = Number(this.speed.value); this.#speedText(); table.keep(); } });
    this.speedField = labelled(T.speed, this.speed, " ");
    this.position = el("input", { type: "text", spellcheck: false, autocomplete: "off", maxLength: 300 });
    this.toMove = el("select", { onchange: () => app.editedSide(Number(this.toMove.value)) });
    this.editing = el("input", { type: "checkbox", onchange: () => app.edit(this.editing.checked) });
    this.newGame = button(T.newGame, () => this.begin(), { class: "main" });
    this.undo = button(T.undo, () => table.undo());
    this.redo = button(T.redo, () => table.redo());
    this.hint = button(T.hint, () => app.hint());
    this.resign = button(T.resign, () => { if (confirm(T.confirmResign)) table.resign(); });
    this.goOn = button(T.goOn, () => table.pause(!table.paused));
    const sides = el("div", { class: "fields" }, this.seats.map((seat) => seat.field));
    this.rulesField = labelled(T.rulesLabel, this.rules);
    this.element = el("section", { "aria-label": T.views.play },
      el("div", { class: "buttons" }, this.newGame, this.undo, this.redo, this.hint, this.resign, button(T.analyse, () => app.analyse()), this.goOn),
      el("div", { class: "fields" }, labelled(T.game, this.games), this.rulesField),
      sides, el("datalist", { id: "agents" }), this.speedField,
      el("details", {}, el("summary", {}, T.setUp),
        labelled(T.positionText, this.position),
        el("div", { class: "fields" }, labelled(T.toMove, this.toMove), labelled(T.edit, this.editing, T.editHelp)),
        el("div", { class: "buttons" }, button(T.usePosition, () => this.usePosition()),
          button(T.copyPosition, async () => say((await copy(table.position.fen)) ? T.copied : T.copyThis(table.position.fen))))));
    this.position.addEventListener("keydown", (event) => { if (event.key === "Enter") this.usePosition(); });
    this.#speedText();
  }

  #speedText() { this.speedField.querySelector("small").textContent = T.speedText(Number(this.speed.value)); }

  #seat(role) {
    const { app } = this;
    const input = el("input", { type: "text", value: "human", list: "agents", spellcheck: false, autocomplete: "off", autocapitalize: "none", maxLength: 300 });
    const field = labelled("…", input, T.seatHelp);
    const problem = el("small", { class: "problem", id: `${input.id}-problem` });
    input.setAttribute("aria-describedby", `${input.id}-help ${problem.id}`);
    field.append(problem);
    let waiting = null;
    const check = async () => {
      const text = input.value.trim() || "human";
      problem.textContent = "";
      input.removeAttribute("aria-invalid");
      if (text !== "human") {
        try {
          await app.connection.request({ do: "agent", game: app.table.info.text, agent: text });
        } catch (error) {
          if (!error.message || input.value.trim() !== text) return false;
          problem.textContent = error.message;
          input.setAttribute("aria-invalid", "true");
          return false;
        }
      }
      return text;
    };
    const apply = async () => {
      clearTimeout(waiting);
      const text = await check();
      const { table } = app;
      if (!text || text === table.seats[role]) return;
      table.abort();
      table.seats[role] = seat.shown = text;
      table.changed();
      table.turn();
    };
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(check, 250); });
    input.addEventListener("change", apply);
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") apply(); });
    const seat = { input, field, check, problem, shown: "human" };
    return seat;
  }

  welcome(hello) {
    const current = this.games.value;
    this.variants = hello.games;
    this.games.replaceChildren(...Object.keys(hello.games).map((text) => el("option", { value: text }, text.replace(/_/g, " "))));
    if (current) this.games.value = current;
    this.element.querySelector("datalist").replaceChildren(...["human", ...hello.agents, "alphabeta:depth=4", "mcts:simulations=400", "trained:shield=true"].map((value) => el("option", { value })));
  }

  async begin(start = null) {
    const { table } = this.app;
    await this.choosing; // the game that was chosen just now is the one to begin
    const seats = await Promise.all(this.seats.map((seat) => seat.check()));
    if (seats.includes(false)) {
      const wrong = this.seats[seats.indexOf(false)];
      wrong.input.focus();
      table.problem = wrong.problem.textContent;
      return say(wrong.problem.textContent);
    }
    await table.newGame(this.chosen, start, seats).catch((error) => table.fail(error));
    this.app.board.grid.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  chooseGame(text) {
    const { table } = this.app;
    this.chosen = text;
    const seats = table.seats.map((seat) => (seat.startsWith("policy:") ? "trained" : seat));
    this.choosing = table.newGame(text, null, seats).catch((error) => table.fail(error));
  }

  usePosition() {
    const text = this.position.value.trim();
    this.app.edit(false);
    this.begin(text || null);
  }

  show() {
    const { table } = this.app, { info, position } = table;
    this.chosen = info.text;
    const base = info.text.split(":")[0];
    const known = this.variants?.[info.text] ? info.text : base;
    this.games.value = known;
    const texts = this.variants?.[known] ?? [];
    this.rulesField.hidden = texts.length < 2;
    this.rules.replaceChildren(...texts.map((text) => el("option", { value: text, selected: text === info.text }, T.rules(text))));
    info.roles.forEach((role, i) => {
      const { input, field } = this.seats[i];
      field.querySelector("label").textContent = T.seat(role);
      // What is being typed stays until the seat is another.
      if (table.seats[i] !== this.seats[i].shown) input.value = this.seats[i].shown = table.seats[i];
    });
    if (document.activeElement !== this.position && !this.editing.checked) this.position.value = position.fen;
    this.toMove.replaceChildren(...info.roles.map((role, i) => el("option", { value: i, selected: i === position.to_move }, role)));
    this.undo.disabled = table.node === table.tree.root && table.tree.resigned() === null;
    this.redo.disabled = table.tree.mainLine().at(-1) === table.node;
    this.hint.disabled = table.over;
    this.resign.disabled = table.over || table.agentsOnly;
    const agentsTurn = !table.over && table.seats[position.to_move] !== "human";
    this.goOn.hidden = !(agentsTurn || (table.agentsOnly && !table.over));
    this.goOn.textContent = table.paused ? T.goOn : table.agentsOnly ? T.pause : T.stop;
    this.speedField.hidden = !table.agentsOnly;
  }
}
