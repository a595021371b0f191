// A managed node: its state, and the transitions from that state.

import { everyMessage } from "../connection/channels";
import type { Connection } from "../connection/connection";
import { errorText } from "../decode/codec";
import { button, h, setText } from "../shell/dom";
import { lines } from "../shell/shown";

interface State {
  id: number;
  label: string;
}

interface TransitionDescription {
  transition: { id: number; label: string };
  start_state: State;
  goal_state: State;
}

export class Lifecycle {
  readonly element: HTMLElement;
  private readonly state = h("output", { class: "state" }, "…");
  private readonly buttons = h("div", { class: "row" });
  private readonly outcome = h("p", { class: "outcome", role: "status" });
  private readonly endWatch: () => void;

  constructor(
    private readonly connection: Connection,
    private readonly node: string,
  ) {
    this.element = h(
      "section",
      { class: "lifecycle" },
      h("h3", {}, "Lifecycle"),
      h("p", {}, "State: ", this.state),
      this.buttons,
      this.outcome,
    );
    this.endWatch = connection.channels.watch(`${node}/transition_event`, everyMessage, () => {
      void this.read();
    });
    void this.read();
  }

  dispose(): void {
    this.endWatch();
  }

  private async read(): Promise<void> {
    const { services } = this.connection;
    try {
      const { current_state } = await services.call(`${this.node}/get_state`);
      const current = current_state as State;
      setText(this.state, current.label);
      const answer = await services.call(`${this.node}/get_available_transitions`);
      const found = (answer.available_transitions as TransitionDescription[]).filter(
        ({ start_state }) => start_state.id === current.id,
      );
      this.buttons.replaceChildren(
        ...found.map(({ transition, goal_state }) =>
          button(transition.label, () => void this.change(transition), {
            title: `Changes the state to ${goal_state.label}`,
            disabled: !this.connection.allowsChanges,
          }),
        ),
      );
    } catch (error) {
      this.buttons.replaceChildren();
      this.tell("failed", errorText(error));
    }
  }

  private async change(transition: { id: number; label: string }): Promise<void> {
    this.tell("", `${transition.label} …`);
    for (const each of this.buttons.querySelectorAll("button")) each.disabled = true;
    try {
      const service = `${this.node}/change_state`;
      const { success } = await this.connection.services.call(service, { transition });
      if (success === true) this.tell("done", `✓ ${transition.label}`);
      else this.tell("failed", `✕ ${transition.label} failed: see the log of the node`);
    } catch (error) {
      this.tell("failed", `✕ ${errorText(error)}`);
    }
    await this.read();
  }

  private tell(kind: string, words: string): void {
    this.outcome.className = `outcome ${kind}`;
    setText(this.outcome, lines(words));
  }
}
