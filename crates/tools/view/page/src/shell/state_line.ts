// One line about the connection: the name of the server, or the reason why there is no connection
// and the time until the next attempt.

import type { Connection } from "../connection/connection";
import { button, h, setText } from "./dom";

export function stateLine(connection: Connection): HTMLElement {
  const words = h("span", { role: "status" });
  const again = button("Connect now", () => connection.socket.connect());
  const element = h("div", { class: "connection" }, words, again);
  let timer: ReturnType<typeof setInterval> | null = null;
  const draw = (): void => {
    const { state } = connection.socket;
    element.className = `connection ${state.kind}`;
    again.hidden = state.kind !== "waiting";
    if (state.kind === "connecting") setText(words, "◌ connecting …");
    if (state.kind === "open") setText(words, `● ${connection.info?.name ?? "connected"}`);
    if (state.kind === "waiting") {
      const seconds = Math.max(0, Math.ceil((state.untilMs - Date.now()) / 1000));
      setText(words, `✕ ${state.reason}; next attempt in ${seconds} s`);
    }
    if (state.kind === "waiting" && timer === null) timer = setInterval(draw, 1000);
    if (state.kind !== "waiting" && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
  connection.socket.changed.listen(draw);
  connection.informed.listen(draw);
  draw();
  return element;
}
