// The last messages of a topic, one below the other, in a form like that of `feros topic echo`.

import { errorText } from "../decode/codec";
import type { Message } from "../connection/channels";
import { h } from "../shell/dom";
import { phrase, Shown, lines } from "../shell/shown";
import { type Part, textOf } from "../shell/layout";
import { timeOfDay } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { type Panel, type PanelContext, rateFor, shortType } from "./panel";
import { lineOf } from "./values";

const MOST_LINES = 200;
const MOST_CHARACTERS = 2000;

export class TextPanel implements Panel {
  readonly kind = "text";
  readonly element: HTMLElement;
  private readonly topic: string;
  private readonly end: () => void;
  private readonly waiting: Message[] = [];
  private readonly list = h("ol", { class: "lines", tabindex: "0", "aria-label": "Messages" });

  constructor({ connection }: PanelContext, state: Part) {
    this.topic = textOf(state.t, "");
    this.element = h("div", { class: "text-panel" }, this.list);
    this.end = whileVisible(this.element, () =>
      connection.channels.watch(this.topic, rateFor, (message) => {
        if (this.waiting.push(message) === 1) requestAnimationFrame(() => this.draw());
        if (this.waiting.length > MOST_LINES) this.waiting.shift();
      }),
    );
  }

  title(): string {
    return this.topic;
  }

  state(): Part {
    return { t: this.topic };
  }

  dispose(): void {
    this.end();
  }

  private draw(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    const isAtEnd = scrollTop + clientHeight > scrollHeight - 20;
    for (const message of this.waiting.splice(0)) {
      const time = h("time", {}, timeOfDay(message.timeNanos));
      this.list.append(h("li", {}, time, " ", this.textOf(message)));
    }
    while (this.list.childElementCount > MOST_LINES) this.list.firstElementChild?.remove();
    if (isAtEnd) this.list.scrollTop = this.list.scrollHeight;
  }

  private textOf(message: Message): Shown {
    try {
      const isText = shortType(message.channel.type) === "std_msgs/String";
      const text = isText ? lines(String(message.value.data)).text : lineOf(message.value).text;
      const isLong = text.length > MOST_CHARACTERS;
      return new Shown(isLong ? `${text.slice(0, MOST_CHARACTERS)}…` : text);
    } catch (error) {
      return phrase`This message cannot be read: ${errorText(error)}`;
    }
  }
}
