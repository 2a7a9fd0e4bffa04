// The dialog that begins a game.

import { button, choice, el, kept, labelled } from "./dom.js";
import { T } from "./texts.js";

const YOU = "boardenvs-you"; // kept: the side chosen last
const OTHER = "other"; // the choice of an agent by its text

// A field for the text of an agent, which is checked while it is typed; `check` returns it, or null.
export function agentField(app, game, value = "") {
  const input = el("input", { type: "text", list: "agents", spellcheck: false, autocomplete: "off", autocapitalize: "none", maxLength: 300, value });
  let waiting = null;
  input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(input.check, 250); });
  input.problem = el("small", { class: "problem" });
  input.show = (problem) => { input.problem.textContent = problem; input.setAttribute("aria-invalid", Boolean(problem)); };
  input.check = async () => {
    const text = input.value.trim();
    const answer = text === "human" ? {} : await app.connection.request({ do: "agent", game: game(), agent: text }).catch((error) => error);
    if (input.value.trim() === text) input.show(answer.message ?? "");
    return answer instanceof Error ? null : text;
  };
  return input;
}

export class NewGame {
  constructor(app) {
    this.app = app;
    this.games = el("select", { onchange: () => { this.choosing = this.#choose(this.games.value); } });
    this.rules = el("select", { onchange: () => { this.choosing = this.#choose(this.rules.value); } });
    this.rulesField = labelled(T.rulesLabel, this.rules);
    this.levels = el("div", { class: "opponents" });
    this.agents = el("div", { class: "opponents" });
    [this.text, this.first] = ["", "greedy"].map((value) => agentField(app, () => this.chosen, value));
    this.text.addEventListener("focus", () => { this.opponent = OTHER; });
    this.firstField = labelled(T.firstPlayer, this.first);
    this.firstField.append(this.first.problem);
    this.sides = el("div", { class: "choices" });
    this.seconds = choice(T.thinkingTimes, "", () => {});
    this.warning = el("p", { class: "help" });
    this.goOn = button(T.goOnWith, () => this.#end(true));
    this.element = el("dialog", { class: "newgame", "aria-labelledby": "newgame-title" },
      el("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); this.#end(false); } },
        el("h2", { id: "newgame-title" }, T.newGame),
        el("div", { class: "body" },
          el("div", { class: "fields" }, labelled(T.game, this.games), this.rulesField),
          el("fieldset", {}, el("legend", {}, T.youPlay), this.sides),
          el("fieldset", {}, el("legend", {}, T.opponent),
            this.#radio("opponent", "human", [el("b", {}, T.person)]), this.levels,
            el("details", {}, el("summary", {}, T.moreAgents), this.agents,
              this.#radio("opponent", OTHER, [el("b", {}, T.other)]), labelled(T.otherText, this.text, T.otherHelp), this.text.problem)),
          this.firstField,
          labelled(T.thinkingTime, this.seconds, T.secondsHelp)),
        this.warning,
        el("div", { class: "buttons" }, el("button", { type: "submit", class: "main" }, T.begin), this.goOn, button(T.cancel, () => this.element.close()))),
      el("datalist", { id: "agents" }));
    this.known = {};
  }

  // ---- choices

  get opponent() { return this.element.querySelector("input[name=opponent]:checked")?.value ?? "human"; }
  set opponent(value) {
    const found = [...this.element.querySelectorAll("input[name=opponent]")].find((radio) => radio.value === value);
    (found ?? this.element.querySelector(`input[value=${OTHER}]`)).checked = true;
    if (!found) this.text.value = value;
    if (!found || value === OTHER || found.closest("details")) this.element.querySelector("details").open = true;
    this.#show();
  }
  get you() { return this.element.querySelector("input[name=you]:checked")?.value ?? "0"; }

  #show() {
    const { table } = this.app;
    this.goOn.hidden = table.over || !table.tree?.root.children.length || this.chosen !== table.info.text;
    this.firstField.hidden = this.you !== "nobody";
    this.firstField.querySelector("label").textContent = T.seat(this.sideNames?.[0] ?? "");
    this.seconds.disabled = !this.known[this.opponent]?.searches && this.opponent !== OTHER;
  }

  #radio(name, value, parts, problem = null) {
    const radio = el("input", { type: "radio", name, value, disabled: Boolean(problem), onchange: () => this.#show() });
    return el("label", { class: `choice${problem ? " not" : ""}`, title: problem ?? "" }, radio, el("span", {}, ...parts));
  }

  // ---- games and agents

  welcome(hello) {
    this.variants = hello.games;
    this.games.replaceChildren(...Object.keys(hello.games).map((text) => el("option", { value: text }, hello.titles[text])));
    this.element.querySelector("datalist").replaceChildren(...["human", ...hello.agents].map((value) => el("option", { value })));
  }

  nameOf(agent) { return T.levelName(agent) ?? T.agents[agent]?.[0] ?? agent; }

  async open() {
    const { table } = this.app;
    const mine = table.seats.findIndex((seat) => seat === "human");
    await this.#choose(table.info.text);
    const agents = table.seats.filter((seat) => seat !== "human");
    this.opponent = agents.at(-1) ?? "human";
    if (agents.length === 2) this.first.value = agents[0];
    const you = agents.length === 2 ? "nobody" : kept.get(YOU) === "random" ? "random" : agents.length ? String(mine) : "0";
    this.element.querySelector(`input[name=you][value="${you}"]`).checked = true;
    this.seconds.value = table.seconds === null ? "" : String(table.seconds);
    this.warning.textContent = table.running ? T.ends(table.position.number) : "";
    this.#show();
    this.element.showModal();
    const chosen = this.element.querySelector("input[name=opponent]:checked");
    chosen?.focus({ preventScroll: true });
    this.element.querySelector(".body").scrollTop = 0;
    chosen?.scrollIntoView({ block: "nearest" }); // keep game and colour in view if possible
  }

  async #choose(text) {
    const { app } = this;
    const info = await app.table.gameInfo(text);
    const { opponents } = await app.connection.request({ do: "opponents", game: text });
    const { opponent: before, you } = this;
    this.chosen = info.text;
    this.sideNames = info.sides;
    const base = info.text.split(":")[0], known = this.variants[info.text] ? info.text : base;
    this.games.value = known;
    const texts = this.variants[known] ?? [];
    this.rulesField.hidden = texts.length < 2;
    this.rules.replaceChildren(...texts.map((one) => el("option", { value: one, selected: one === info.text }, T.rules(one))));
    this.known = Object.fromEntries(opponents.map((one) => [one.agent, one]));
    const item = ({ agent, level: measured, problem }) => {
      const level = T.levelName(agent), [name, sentence] = T.agents[agent] ?? [agent, ""];
      return this.#radio("opponent", agent, level
        ? [el("b", {}, level), el("small", {}, problem ?? T.rating(measured))]
        : [el("b", {}, name), el("small", {}, problem ?? sentence)], problem);
    };
    // Those that can play come first; what cannot, and why, is under "More agents".
    const [works, fails] = [opponents.filter((one) => !one.problem), opponents.filter((one) => one.problem)];
    const measured = works.find((one) => one.level)?.level.measured_in;
    const levels = works.filter((one) => T.levelName(one.agent)), others = works.filter((one) => !T.levelName(one.agent));
    this.levels.replaceChildren(...(levels.length ? [...levels.map(item), el("p", { class: "help" }, T.ratingHelp(app.connection.hello.titles[measured], measured === info.text))] : others.map(item)));
    this.agents.replaceChildren(...(levels.length ? others.map(item) : []), ...fails.map(item));
    this.sides.replaceChildren(...info.sides.map((side, i) => this.#radio("you", String(i), [T.capital(side)])), this.#radio("you", "random", [T.random]), this.#radio("you", "nobody", [T.nobody]));
    this.element.querySelector(`input[name=you][value="${you}"]`).checked = true;
    this.opponent = this.known[before]?.problem ? "human" : before;
  }

  // ---- closing

  async #end(goesOn) {
    await this.choosing; // wait for the chosen game
    const { table } = this.app, { opponent, you } = this;
    const second = opponent === OTHER ? await this.text.check() : opponent;
    const first = you === "nobody" ? await this.first.check() : null;
    if (!second || (you === "nobody" && !first)) return (second ? this.first : this.text).focus();
    const side = you === "random" ? Math.floor(2 * Math.random()) : Number(you);
    const seats = second === "human" ? ["human", "human"] : you === "nobody" ? [first, second] : side === 0 ? ["human", second] : [second, "human"];
    table.seconds = this.seconds.disabled || !this.seconds.value ? null : Number(this.seconds.value);
    kept.set(YOU, you);
    this.element.close();
    if (goesOn) return table.seat(seats);
    await table.newGame(this.chosen, null, seats).catch((error) => table.fail(error));
    this.app.faceUser();
    this.app.board.grid.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }
}
