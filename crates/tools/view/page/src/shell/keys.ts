// Keyboard shortcuts, which work everywhere except in fields, and the dialog that lists them.

import { button, h } from "./dom";
import type { Tabs } from "./tabs";

const KEYS: [string, string][] = [
  ["1 … 7", "choose a pane"],
  ["/", "go to the filter of the pane"],
  ["Tab, Enter", "go to the next box, edge or button, and press it"],
  ["arrows, +, −", "move and zoom the graph while it has the focus"],
  ["Escape", "leave a field, or undo the change in it"],
  ["?", "show this list"],
];

export function helpOf(tabs: Tabs): { button: HTMLButtonElement; dialog: HTMLDialogElement } {
  const close = button("Close", () => dialog.close());
  const list = h("dl");
  for (const [key, words] of KEYS) list.append(h("dt", {}, h("kbd", {}, key)), h("dd", {}, words));
  const dialog = h(
    "dialog",
    { "aria-label": "Keyboard shortcuts" },
    h("h2", {}, "Keyboard shortcuts"),
    list,
    h(
      "p",
      { class: "dim" },
      "The address of this page contains its layout: everybody who opens it sees the same page.",
    ),
    close,
  );
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const target = event.target as HTMLElement;
    const isField = ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName);
    if (isField) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (event.key >= "1" && event.key <= "7") tabs.chooseAt(Number(event.key) - 1);
    else if (event.key === "/") tabs.current?.filter?.focus();
    else if (event.key === "?") dialog.showModal();
    else return;
    event.preventDefault();
  });
  return {
    button: button("?", () => dialog.showModal(), { label: "Keyboard shortcuts", class: "icon" }),
    dialog,
  };
}
