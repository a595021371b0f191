// The pane of the doctor: the findings of the server, each with its cure.

import type { Connection } from "../connection/connection";
import type { Finding } from "../connection/protocol";
import { errorText } from "../decode/codec";
import { breakable, button, h, setText } from "../shell/dom";
import { lines } from "../shell/shown";
import { onVisibility } from "../shell/visibility";

const SIGNS: Record<Finding["level"], string> = {
  ok: "✓ ok",
  warning: "! warning",
  error: "✕ error",
};
const ORDER: Finding["level"][] = ["error", "warning", "ok"];

export class DoctorPane {
  readonly element: HTMLElement;
  private readonly list = h("ul", { class: "findings" });
  private readonly note = h("p", { class: "dim", role: "status" });
  private readonly ask: HTMLButtonElement;
  private hasAsked = false;

  constructor(private readonly connection: Connection) {
    this.ask = button("Check again", () => void this.examine());
    this.element = h(
      "div",
      { class: "doctor" },
      h("div", { class: "row bar" }, this.ask, this.note),
      this.list,
    );
    const first = (): void => {
      if (!this.hasAsked && connection.socket.state.kind === "open") void this.examine();
    };
    let isVisible = false;
    onVisibility(this.element, (isNow) => {
      isVisible = isNow;
      if (isNow) first();
    });
    connection.socket.changed.listen(() => {
      if (isVisible) first();
    });
  }

  private async examine(): Promise<void> {
    this.hasAsked = true;
    this.ask.disabled = true;
    setText(this.note, "checking …");
    try {
      this.show(await this.connection.askDoctor());
    } catch (error) {
      setText(this.note, errorText(error));
    }
    this.ask.disabled = false;
  }

  private show(findings: Finding[]): void {
    const sorted = findings.toSorted(
      (one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level),
    );
    const counts = ORDER.map(
      (level) => `${level}: ${findings.filter((each) => each.level === level).length}`,
    );
    setText(this.note, `${counts.join(", ")} · ${new Date().toLocaleTimeString()}`);
    this.list.replaceChildren(
      ...sorted.map(({ area, level, text, cure }) =>
        h(
          "li",
          { class: level },
          h("b", { class: "sign" }, SIGNS[level] ?? level),
          h("span", { class: "area" }, area),
          h(
            "div",
            {},
            h("p", {}, breakable(lines(text))),
            cure !== null &&
              cure !== "" &&
              h("p", { class: "cure" }, h("b", {}, "Cure: "), breakable(lines(cure))),
          ),
        ),
      ),
    );
  }
}
