// The latest message of a topic as a tree. Only open branches have elements, which change only with
// their values. Each number has a button that plots it.

import { errorText } from "../decode/codec";
import type { Message } from "../connection/channels";
import { isNumeric, isTime } from "../decode/fields";
import { button, h, setText } from "../shell/dom";
import { Shown } from "../shell/shown";
import { type Part, textOf, textsOf } from "../shell/layout";
import { timeOfDay } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { type Panel, type PanelContext, rateFor } from "./panel";
import { leafText } from "./values";

const MOST_ELEMENTS = 100;
const PREVIEW = 6;

type Sequence = ArrayLike<unknown> & object;

function isSequence(value: unknown): value is Sequence {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

function isBranch(value: unknown): value is object {
  return value !== null && typeof value === "object" && !isTime(value);
}

/** Returns the text of a closed branch: its length and its first values. */
function summary(value: object): Shown {
  if (!isSequence(value)) return new Shown("");
  const shown = Array.from({ length: Math.min(PREVIEW, value.length) }, (_, at) => value[at]);
  const more = value.length > shown.length ? ", …" : "";
  const isFlat = shown.length > 0 && !shown.some(isBranch);
  const values = isFlat ? ` ${Shown.join(shown.map(leafText), ", ").text}${more}` : "";
  return new Shown(`[${value.length}]${values}`);
}

/** One row of the tree, and the rows below it after the user has opened it. */
class Row {
  readonly element: HTMLElement;
  private readonly text: HTMLElement;
  private readonly children = new Map<string, Row>();
  private readonly more = h("li", { class: "dim", hidden: true });
  private readonly list = h("ul");
  private latest: unknown;

  constructor(
    key: string,
    readonly path: string,
    readonly isBranch: boolean,
    isNumber: boolean,
    private readonly tree: { opened: Set<string>; context: PanelContext },
  ) {
    this.text = h("span", { class: "value" });
    if (!isBranch) {
      const plot =
        isNumber &&
        button("∿", () => tree.context.plot(path), {
          label: `Plot ${path}`,
          class: "icon",
        });
      const name = h("span", { class: "key" }, key);
      this.element = h("li", { class: "leaf" }, name, this.text, plot);
      return;
    }
    const details = h("details", {
      ontoggle: () => {
        if (details.open) tree.opened.add(path);
        else tree.opened.delete(path);
        this.update(this.latest);
        tree.context.changed();
      },
    });
    details.open = tree.opened.has(path);
    details.append(h("summary", {}, h("span", { class: "key" }, key), this.text), this.list);
    this.element = h("li", {}, details);
  }

  update(value: unknown): void {
    this.latest = value;
    if (!this.isBranch || !isBranch(value)) {
      setText(this.text, leafText(value));
      return;
    }
    setText(this.text, summary(value));
    if (!this.tree.opened.has(this.path)) return;
    this.updateChildren(value);
  }

  updateChildren(value: object): void {
    const isList = isSequence(value);
    const keys = isList
      ? Array.from({ length: Math.min(MOST_ELEMENTS, value.length) }, (_, at) => String(at))
      : Object.keys(value);
    const left = new Set(this.children.keys());
    for (const key of keys) {
      const child = (value as Record<string, unknown>)[key];
      left.delete(key);
      let row = this.children.get(key);
      if (row === undefined || row.isBranch !== isBranch(child)) {
        row?.element.remove();
        const path = isList ? `${this.path}[${key}]` : `${this.path}.${key}`;
        row = new Row(key, path, isBranch(child), isNumeric(child), this.tree);
        this.children.set(key, row);
        this.list.append(row.element);
      }
      row.update(child);
    }
    for (const key of left) {
      this.children.get(key)?.element.remove();
      this.children.delete(key);
    }
    const hidden = isList ? value.length - keys.length : 0;
    this.more.hidden = hidden === 0;
    if (hidden > 0) {
      setText(this.more, `… ${hidden} more`);
      this.list.append(this.more);
    }
  }

  get childList(): HTMLElement {
    return this.list;
  }
}

export class TreePanel implements Panel {
  readonly kind = "tree";
  readonly element: HTMLElement;
  private readonly topic: string;
  private readonly note = h("p", { class: "dim" }, "No message yet.");
  private readonly root: Row;
  private readonly opened: Set<string>;
  private readonly end: () => void;
  private waiting: Message | null = null;

  constructor(context: PanelContext, state: Part) {
    this.topic = textOf(state.t, "");
    this.opened = new Set(textsOf(state.o).map((each) => this.topic + each));
    const isFirst = state.o === undefined;
    this.root = new Row("", this.topic, true, false, { opened: this.opened, context });
    this.opened.add(this.topic);
    this.element = h("div", { class: "tree" }, this.note, this.root.childList);
    let openFirst = isFirst;
    const draw = (): void => {
      const message = this.waiting;
      this.waiting = null;
      if (message === null) return;
      try {
        if (openFirst) this.openSmall(message.value, this.topic, 0);
        openFirst = false;
        this.root.updateChildren(message.value);
        const size = message.bytes.length.toLocaleString("en");
        setText(this.note, `${timeOfDay(message.timeNanos)} · ${size} B · ${message.channel.type}`);
      } catch (error) {
        setText(this.note, `This message cannot be read: ${errorText(error)}`);
      }
    };
    this.end = whileVisible(this.element, () =>
      context.connection.channels.watch(this.topic, rateFor, (message) => {
        if (this.waiting === null) requestAnimationFrame(draw);
        this.waiting = message;
      }),
    );
  }

  title(): string {
    return this.topic;
  }

  state(): Part {
    const open = [...this.opened].filter((each) => each !== this.topic);
    return { t: this.topic, o: open.map((each) => each.slice(this.topic.length)).slice(0, 40) };
  }

  dispose(): void {
    this.end();
  }

  /** Opens all small branches, before the tree is shown for the first time. */
  private openSmall(value: object, path: string, depth: number): void {
    this.opened.add(path);
    if (depth > 3 || isSequence(value)) return;
    for (const [key, child] of Object.entries(value)) {
      const isSmall = isBranch(child) && (!isSequence(child) || child.length <= 4);
      if (isSmall) this.openSmall(child, `${path}.${key}`, depth + 1);
    }
  }
}
