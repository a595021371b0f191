// Calls of the services of one recorder or player, and the display of their outcome.

import type { Connection } from "../connection/connection";
import { errorText, type Value } from "../decode/codec";
import { h, setText } from "../shell/dom";

export class Steering {
  readonly outcome = h("p", { class: "outcome", role: "status" });

  constructor(
    private readonly connection: Connection,
    /** Name of the node, which begins the names of its services. */
    readonly base: string,
  ) {}

  has(service: string): boolean {
    return this.connection.services.has(`${this.base}/${service}`);
  }

  /** Calls a service; `null` if that failed, which is shown below the buttons. */
  async call(service: string, request: Value = {}, isQuiet = false): Promise<Value | null> {
    try {
      const answer = await this.connection.services.call(`${this.base}/${service}`, request);
      const words = service.replaceAll("_", " ");
      if (answer.success === false) this.tell("failed", `✕ ${words} was refused`);
      else if (!isQuiet) this.tell("done", `✓ ${words}`);
      return answer.success === false ? null : answer;
    } catch (error) {
      this.tell("failed", `✕ ${errorText(error)}`);
      return null;
    }
  }

  tell(kind: string, words: string): void {
    this.outcome.className = `outcome ${kind}`;
    setText(this.outcome, words);
  }
}
