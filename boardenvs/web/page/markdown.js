// Reports, in the little of Markdown that they use: headings, paragraphs, lists and tables.

import { el } from "./dom.js";

export function markdown(text) {
  const root = el("div", { class: "report" });
  let list = null, rows = null, paragraph = null, numbers = [];
  const end = () => { list = rows = paragraph = null; };
  for (const line of text.split("\n")) {
    const heading = line.match(/^(#{1,4}) (.*)/), item = line.match(/^\s*[-*] (.*)/);
    if (heading) {
      end();
      root.append(el(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])));
    } else if (line.startsWith("|")) {
      const cells = line.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
      if (cells.every((cell) => /^:?-+:?$/.test(cell))) {
        numbers = cells.map((cell) => cell.endsWith(":"));
        continue;
      }
      if (!rows) {
        end();
        rows = el("tbody");
        root.append(el("div", { class: "scroll", tabIndex: 0 }, el("table", {}, rows)));
        rows.append(el("tr", {}, cells.map((cell) => el("th", { scope: "col" }, inline(cell)))));
      } else rows.append(el("tr", {}, cells.map((cell, i) => el("td", { class: numbers[i] ? "number" : "" }, inline(cell)))));
    } else if (item) {
      if (!list) {
        end();
        root.append((list = el("ul")));
      }
      list.append(el("li", {}, inline(item[1])));
    } else if (!line.trim() || /^!\[/.test(line)) end();
    else {
      if (!paragraph) {
        end();
        root.append((paragraph = el("p")));
      }
      paragraph.append(...inline(`${line} `));
    }
  }
  return root;
}

// Bold, emphasis and code; links are told by their text.
function inline(text) {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/).filter(Boolean).map((part) => {
    if (part.startsWith("**")) return el("strong", {}, part.slice(2, -2));
    if (part.startsWith("*")) return el("em", {}, part.slice(1, -1));
    return part.startsWith("`") ? el("code", {}, part.slice(1, -1)) : part;
  });
}
