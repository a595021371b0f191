// Without a connection, the panes keep their last values. They are dimmed, and one line above them
// says since when the values are old.

import type { Connection } from "../connection/connection";
import { h, setText } from "./dom";

export function staleLine(connection: Connection, panels: HTMLElement): HTMLElement {
  const element = h("p", { class: "warn stale-line", role: "status", hidden: true });
  let wasOpen = false;
  let since: Date | null = null;
  connection.socket.changed.listen(({ kind }) => {
    wasOpen ||= kind === "open";
    since = kind === "open" || !wasOpen ? null : (since ?? new Date());
    element.hidden = since === null;
    panels.classList.toggle("stale", since !== null);
    const time = since?.toLocaleTimeString() ?? "";
    setText(element, `Old values: there is no connection to the server since ${time}.`);
  });
  return element;
}
