// The view for playing, and the rules of a game.

import { button, copy, el, labelled, say } from "./dom.js";
import { T } from "./texts.js";

export const rulesOf = (info) => [el("img", { src: info.picture, alt: T.startOf(info.name) }), ...info.rules.split(/\n+/).map((text) => el("p", {}, text))];

export class PlayView {
  constructor(app) {
    this.app = app;
    const { table } = app;
    this.players = el("p", { class: "players" });
    this.speed = el("input", { type: "range", min: 0, max: 3, step: 0.25, value: table.speed, oninput: () => { table.speed = Number(this.speed.value); this.show(); table.keep(); } });
    this.speedField = labelled(T.speed, this.speed, " ");
    this.position = el("input", { type: "text", spellcheck: false, autocomplete: "off", maxLength: 300 });
    this.toMove = el("select", { onchange: () => app.editedSide(Number(this.toMove.value)) });
    this.editing = el("input", { type: "checkbox", onchange: () => app.edit(this.editing.checked) });
    this.byHand = el("div", { class: "fields" }, labelled(T.toMove, this.toMove), labelled(T.edit, this.editing, T.editHelp));
    this.undo = button(T.undo, () => table.undo());
    this.redo = button(T.redo, () => table.redo());
    this.hint = button(T.hint, () => app.hint());
    this.resign = button(T.resign, () => { if (confirm(T.confirmResign)) table.resign(); });
    this.analyse = button(T.analyse, () => app.analyse());
    this.goOn = button(T.goOn, () => table.pause(!table.paused));
    this.element = el("section", { "aria-label": T.views.play },
      el("div", { class: "buttons" }, button(T.newGame, () => app.newGame.open(), { class: "main" }), this.undo, this.redo, this.hint, this.goOn, this.resign, this.analyse),
      this.players, this.speedField);
    this.rules = el("details", { class: "rules" });
    this.extra = el("div", {}, this.rules, el("details", {}, el("summary", {}, T.setUp),
      labelled(T.positionText, this.position),
      this.byHand,
      el("div", { class: "buttons" }, button(T.usePosition, () => this.usePosition()),
        button(T.copyPosition, async () => say((await copy(table.position.fen)) ? T.copied : T.copyThis(table.position.fen))))));
    this.position.addEventListener("keydown", (event) => { if (event.key === "Enter") this.usePosition(); });
  }

  async usePosition() {
    const { table } = this.app, text = this.position.value.trim();
    if (!this.app.mayLeave()) return;
    this.app.edit(false);
    await table.newGame(table.info.text, text || null).catch((error) => table.fail(error));
  }

  show() {
    const { table } = this.app, { position, info } = table;
    if (this.info !== info) this.rules.replaceChildren(el("summary", {}, T.rulesOf(info.name)), ...rulesOf(info));
    this.info = info;
    this.byHand.hidden = !info.placed;
    const players = table.seats.map((seat) => (seat === "human" ? T.human : this.app.newGame.nameOf(seat)));
    this.players.textContent = [table.info.name, ...players.map((player, i) => T.playedBy(table.side(i), player))].join(" · ");
    if (document.activeElement !== this.position && !this.editing.checked) this.position.value = position.fen;
    this.toMove.replaceChildren(...[0, 1].map((i) => el("option", { value: i, selected: i === (this.app.edited ?? position).to_move }, table.side(i))));
    this.undo.disabled = table.node === table.tree.root && table.tree.resigned() === null;
    this.redo.disabled = table.tree.through().at(-1) === table.node;
    this.hint.disabled = table.over;
    this.resign.disabled = table.over || table.tree.finished || table.agentsOnly;
    this.analyse.classList.toggle("main", Boolean(table.over)); // what comes next then
    const agentsTurn = !table.over && table.seats[position.to_move] !== "human";
    this.goOn.hidden = !(agentsTurn || (table.agentsOnly && !table.over));
    this.hint.hidden = !this.goOn.hidden; // one in place of the other, so that nothing moves
    this.goOn.textContent = table.paused ? T.goOn : table.agentsOnly ? T.pause : T.stop;
    this.speedField.hidden = !table.agentsOnly;
    this.speed.value = table.speed;
    this.speedField.querySelector("small").textContent = T.speedText(table.speed);
  }
}
