// The publishers, subscriptions and servers by name, including endpoints without a match.

import { type End, Signal } from "../signal";
import type { GraphUpdate } from "./protocol";

export class ConnectionGraph {
  readonly publishers = new Map<string, string[]>();
  readonly subscriptions = new Map<string, string[]>();
  readonly servers = new Map<string, string[]>();
  private readonly changed = new Signal<void>();
  private followers = 0;

  constructor(private readonly send: (text: object) => void) {}

  follow(listener: () => void): End {
    const end = this.changed.listen(listener);
    if (this.followers++ === 0) this.send({ op: "subscribeConnectionGraph" });
    return () => {
      end();
      if (--this.followers === 0) this.send({ op: "unsubscribeConnectionGraph" });
    };
  }

  receive(update: GraphUpdate): void {
    for (const name of update.removedTopics) {
      this.publishers.delete(name);
      this.subscriptions.delete(name);
    }
    for (const name of update.removedServices) this.servers.delete(name);
    for (const each of update.publishedTopics) this.publishers.set(each.name, each.publisherIds);
    for (const each of update.subscribedTopics) {
      this.subscriptions.set(each.name, each.subscriberIds);
    }
    for (const each of update.advertisedServices) this.servers.set(each.name, each.providerIds);
    this.changed.emit();
  }

  /** Forgets everything, since the server sends the whole graph to a new connection. */
  resume(): void {
    this.publishers.clear();
    this.subscriptions.clear();
    this.servers.clear();
    if (this.followers > 0) this.send({ op: "subscribeConnectionGraph" });
  }
}
