// Notices from the server: the page shows the last few until the user dismisses them. A notice that
// a parameter was refused also goes when the page sets this parameter.

import type { Connection, Status } from "../connection/connection";
import { refusalOf } from "../connection/parameters";
import { button, h } from "./dom";
import { lines } from "./shown";

const MOST = 4;
const WORDS = ["Info", "Warning", "Error"] as const;

export function noticesOf(connection: Connection): HTMLElement {
  const element = h("div", { class: "notices", role: "status", "aria-label": "Notices" });
  connection.status.listen(({ level, message }: Status) => {
    const text = `${WORDS[level] ?? "Info"}: ${message}`;
    for (const each of [...element.children])
      if (each.getAttribute("data-text") === text) each.remove();
    const notice = h(
      "div",
      { class: `notice level-${level}`, "data-text": text, "data-message": message },
      h("span", {}, lines(text)),
      button("×", () => notice.remove(), { label: "Dismiss", class: "icon" }),
    );
    element.append(notice);
    while (element.childElementCount > MOST) element.firstElementChild?.remove();
  });
  connection.parameters.wasSet.listen((name) => {
    const start = refusalOf(name);
    for (const each of [...element.children])
      if (each.getAttribute("data-message")?.startsWith(start)) each.remove();
  });
  return element;
}
