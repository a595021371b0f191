// The controls of the first player, above the messages, so that users can seek in a bag while they
// look at its messages.

import type { Connection } from "../connection/connection";
import { h } from "../shell/dom";
import { offering } from "./pane";
import { Player } from "./player";

export class PlayerBar {
  readonly element = h("div", { class: "player-bar", hidden: true });
  private player: Player | null = null;

  constructor(private readonly connection: Connection) {
    connection.services.changed.listen(() => this.draw());
    this.draw();
  }

  private draw(): void {
    const [base] = offering(this.connection, "Seek", "seek");
    if (base === this.player?.base) return;
    this.player?.dispose();
    this.player = base === undefined ? null : new Player(this.connection, base, true);
    this.element.hidden = this.player === null;
    this.element.replaceChildren(...(this.player === null ? [] : [this.player.element]));
  }
}
