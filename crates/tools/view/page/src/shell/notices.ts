// Notices from the server: the page shows the last few until the user dismisses them.

import type { Connection, Status } from "../connection/connection";
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
      { class: `notice level-${level}`, "data-text": text },
      h("span", {}, lines(text)),
      button("×", () => notice.remove(), { label: "Dismiss", class: "icon" }),
    );
    element.append(notice);
    while (element.childElementCount > MOST) element.firstElementChild?.remove();
  });
  return element;
}
