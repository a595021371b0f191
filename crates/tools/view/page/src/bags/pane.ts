// The pane of bags: all running recorders and players, each with its controls.

import type { Connection } from "../connection/connection";
import { h } from "../shell/dom";
import { Player } from "./player";
import { Recorder } from "./recorder";

/** The names of the nodes that offer a service of this name and type. */
export function offering(connection: Connection, type: string, service: string): string[] {
  const end = `/${service}`;
  return connection.services
    .ofType(`rosbag2_interfaces/srv/${type}`)
    .filter((name) => name.endsWith(end))
    .map((name) => name.slice(0, -end.length));
}

export class BagsPane {
  readonly element: HTMLElement;
  private readonly list = h("div", { class: "bag-list" });
  private readonly hint = h("p", { class: "hint" });
  private shown: (Player | Recorder)[] = [];
  private key = "";

  constructor(private readonly connection: Connection) {
    this.element = h("div", { class: "bags" }, this.hint, this.list);
    connection.services.changed.listen(() => this.draw());
    connection.informed.listen(() => this.draw());
    this.draw();
  }

  private draw(): void {
    const { connection } = this;
    const players = offering(connection, "Seek", "seek");
    const recorders = offering(connection, "SplitBagfile", "split_bagfile");
    const key = `${players.join(" ")}|${recorders.join(" ")}`;
    this.hint.hidden = key !== "|";
    this.hint.textContent =
      connection.info === null || connection.allowsChanges
        ? "No recorder or player is running. `feros bag record` starts a recorder, and " +
          "`feros bag play --clock` starts a player."
        : "To control recorders and players, start the server with --allow-changes.";
    if (key === this.key) return;
    this.key = key;
    this.shown.forEach((each) => each.dispose());
    this.shown = [
      ...players.map((base) => new Player(connection, base)),
      ...recorders.map((base) => new Recorder(connection, base)),
    ];
    this.list.replaceChildren(...this.shown.map(({ element }) => element));
  }
}
