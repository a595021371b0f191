// Topics that the server advertises, and the page's subscriptions: one per topic, only while
// something visible shows the topic, and at the highest rate that a watcher requests.

import { Codec, type Value } from "../decode/codec";
import { type End, Signal } from "../signal";
import type { ChannelInfo, MessageFrame } from "./protocol";

export class Channel {
  readonly codec: Codec;
  readonly topic: string;
  readonly type: string;

  constructor(readonly info: ChannelInfo) {
    const isKnown = info.schema !== "" || info.schemaEncoding !== undefined;
    this.codec = new Codec(isKnown ? info.schema : null);
    this.topic = info.topic;
    this.type = info.schemaName;
  }
}

/** One message, which is decoded on first use, and at most once. */
export class Message {
  private decoded: Value | null = null;

  constructor(
    readonly channel: Channel,
    readonly timeNanos: bigint,
    readonly bytes: Uint8Array,
  ) {}

  /** The decoded message; throws if the bytes do not match the channel's schema. */
  get value(): Value {
    this.decoded ??= this.channel.codec.decode(this.bytes);
    return this.decoded;
  }
}

/** Messages per second; `null` requests all messages, for topics that need every message. */
export type Rate = number | null;
/** The rate that a watcher requests, once the channel is known. */
export type RateOf = (channel: Channel) => Rate;

/** The rate for topics such as transforms, whose messages have different frames. */
export const everyMessage: RateOf = () => null;

interface Watcher {
  rateOf: RateOf;
  receive: (message: Message) => void;
}

interface Subscription {
  id: number;
  channel: Channel;
  rate: Rate;
}

type Send = (text: object) => void;

export class Channels {
  readonly changed = new Signal<void>();
  readonly byTopic = new Map<string, Channel>();
  private readonly byId = new Map<number, Channel>();
  private readonly watchers = new Map<string, Set<Watcher>>();
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly subscriptionsById = new Map<number, Subscription>();
  private nextId = 1;

  constructor(private readonly send: Send) {}

  /** Receives the messages of a topic while the server advertises it, until the watch ends. */
  watch(topic: string, rateOf: RateOf, receive: (message: Message) => void): End {
    const watcher: Watcher = { rateOf, receive };
    let watchers = this.watchers.get(topic);
    if (watchers === undefined) this.watchers.set(topic, (watchers = new Set()));
    watchers.add(watcher);
    this.settle(topic);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.watchers.get(topic) === watchers) {
        this.watchers.delete(topic);
      }
      this.settle(topic);
    };
  }

  get watchedTopics(): string[] {
    return [...this.subscriptions.keys()];
  }

  advertise(infos: ChannelInfo[]): void {
    for (const info of infos) {
      const channel = new Channel(info);
      this.byId.set(info.id, channel);
      // A topic of two types has two channels; the first one is used, and the figures name the
      // other types.
      if (!this.byTopic.has(info.topic)) this.byTopic.set(info.topic, channel);
    }
    for (const info of infos) this.settle(info.topic);
    this.changed.emit();
  }

  unadvertise(ids: number[]): void {
    for (const id of ids) {
      const channel = this.byId.get(id);
      this.byId.delete(id);
      if (channel === undefined || this.byTopic.get(channel.topic) !== channel) continue;
      this.byTopic.delete(channel.topic);
      const other = [...this.byId.values()].find((each) => each.topic === channel.topic);
      if (other !== undefined) this.byTopic.set(channel.topic, other);
      this.settle(channel.topic);
    }
    this.changed.emit();
  }

  /** Forgets the channels and subscriptions, which a new connection does not have. */
  reset(): void {
    this.byId.clear();
    this.byTopic.clear();
    this.subscriptions.clear();
    this.subscriptionsById.clear();
    this.changed.emit();
  }

  deliver(frame: MessageFrame): void {
    const subscription = this.subscriptionsById.get(frame.subscriptionId);
    if (subscription === undefined) return;
    const message = new Message(subscription.channel, frame.timeNanos, frame.payload);
    for (const watcher of [...(this.watchers.get(subscription.channel.topic) ?? [])]) {
      watcher.receive(message);
    }
  }

  /** Adapts the subscription of a topic to the rates that its watchers request. */
  private settle(topic: string): void {
    const channel = this.byTopic.get(topic);
    const watchers = [...(this.watchers.get(topic) ?? [])];
    const old = this.subscriptions.get(topic);
    const isWanted = channel !== undefined && watchers.length > 0;
    const rates = isWanted ? watchers.map(({ rateOf }) => rateOf(channel)) : [];
    const rate = rates.includes(null) ? null : Math.max(...(rates as number[]));
    if (old !== undefined && isWanted && old.channel === channel && old.rate === rate) return;
    if (old !== undefined) {
      this.subscriptions.delete(topic);
      this.subscriptionsById.delete(old.id);
      this.send({ op: "unsubscribe", subscriptionIds: [old.id] });
    }
    if (!isWanted) return;
    const subscription = { id: this.nextId++, channel, rate };
    this.subscriptions.set(topic, subscription);
    this.subscriptionsById.set(subscription.id, subscription);
    const limit = rate === null ? {} : { maxRateHz: rate };
    const entry = { id: subscription.id, channelId: channel.info.id, ...limit };
    this.send({ op: "subscribe", subscriptions: [entry] });
  }
}
