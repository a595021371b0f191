// The pane of bags: all running recorders and players, each with its controls.

import type { Connection } from "../connection/connection";
import { h, setText } from "../shell/dom";
import { Player } from "./player";
import { Recorder } from "./recorder";

const EMPTY =
  "No recorder or player is running. `feros bag record` starts a recorder, and " +
  "`feros bag play --clock` starts a player.";
const READ_ONLY = "To control recorders and players, start the server with --allow-changes.";

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
    const canSteer = connection.info === null || connection.allowsChanges;
    const { players, recorders } = found(connection);
    const isEmpty = players.length + recorders.length === 0;
    this.hint.hidden = !isEmpty && canSteer;
    this.hint.classList.toggle("warn", !canSteer);
    setText(this.hint, [isEmpty ? EMPTY : "", canSteer ? "" : READ_ONLY].join(" ").trim());
    const key = `${canSteer}|${players.join(" ")}|${recorders.join(" ")}`;
    if (key === this.key) return;
    this.key = key;
    this.shown.forEach((each) => each.dispose());
    this.shown = [
      ...players.map((base) => new Player(connection, base, canSteer)),
      ...recorders.map((base) => new Recorder(connection, base, canSteer)),
    ];
    this.list.replaceChildren(...this.shown.map(({ element }) => element));
  }
}

/** The players and recorders; a server that allows no changes has only their reading services. */
function found(connection: Connection): { players: string[]; recorders: string[] } {
  const union = (...lists: string[][]): string[] => [...new Set(lists.flat())].sort();
  const players = union(
    offering(connection, "Seek", "seek"),
    offering(connection, "GetRate", "get_rate"),
  );
  // Both have `is_paused`, so the name of a player does not count.
  const others = offering(connection, "IsPaused", "is_paused");
  const recorders = union(
    offering(connection, "SplitBagfile", "split_bagfile"),
    others.filter((base) => !players.includes(base)),
  );
  return { players, recorders };
}
