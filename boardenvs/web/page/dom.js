// Helpers that make elements.

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key === "style") for (const [name, set] of Object.entries(value)) element.style.setProperty(name, set);
    else if (key in element && !key.startsWith("aria") && key !== "list" && key !== "role") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export const button = (text, action, properties = {}) => el("button", { type: "button", onclick: action, ...properties }, text);

let ids = 0;
export function labelled(text, control, help) {
  control.id ||= `control-${++ids}`;
  const parts = [el("label", { htmlFor: control.id }, text), control];
  if (help) {
    const id = `${control.id}-help`;
    control.setAttribute("aria-describedby", id);
    parts.push(el("small", { id, class: "help" }, help));
  }
  return el("div", { class: "field" }, parts);
}

// Draw again, and keep the focus on the same button; if that has gone, on the element, or on `otherwise`.
export function keepingFocus(element, draw, otherwise = element) {
  const all = () => [...element.querySelectorAll("button")], said = (one) => one?.getAttribute("aria-label") ?? one?.textContent;
  const before = document.activeElement, at = all().indexOf(before);
  draw();
  if (at < 0) return;
  const same = (one) => said(one) === said(before), now = all();
  (same(now[at]) ? now[at] : now.find(same) ?? otherwise).focus({ preventScroll: true });
}

export function choice(options, value, change) {
  const made = el("select", { onchange: () => change(made.value) });
  for (const [key, text] of Object.entries(options)) made.append(el("option", { value: key, selected: key === value }, text));
  return made;
}

// Values that this tab keeps for a reload, if the browser allows that; `set` returns whether it does.
export const kept = {
  get(key) {
    try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; }
  },
  set(key, value) {
    try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { return false; }
    return true;
  },
};

const polite = el("div", { class: "unseen", role: "status", "aria-live": "polite" });
let said = 0;
export function sayTo(parent) { parent.append(polite); }
export function say(text) {
  // Screen readers repeat the same text only if it differs by a space.
  polite.textContent = text + (said++ % 2 ? "\u00a0" : "");
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or no https
  }
}
