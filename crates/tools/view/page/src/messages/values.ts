// The values of messages in words, for the displays of a tree and of text.

import { isTime } from "../decode/fields";
import { beginningOf, phrase, Shown } from "../shell/shown";
import { plain } from "../shell/units";

const MOST_ELEMENTS = 16;
const ESCAPES = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/** Returns a string in quotation marks; it is isolated from the values next to it. */
function quoted(text: string): Shown {
  const { start, rest } = beginningOf(text);
  const escaped = start.replace(/["\\\n\r\t]/g, (each) => ESCAPES.get(each) ?? `\\${each}`);
  return phrase`${`"${escaped}"`}${rest}`;
}

export function leafText(value: unknown): Shown {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return new Shown(plain(value));
  if (isTime(value)) return new Shown(`${value.sec}.${String(value.nanosec).padStart(9, "0")} s`);
  return new Shown(String(value));
}

/** Returns a message as one line. */
export function lineOf(value: unknown): Shown {
  if (value === null || typeof value !== "object" || isTime(value)) return leafText(value);
  const isView = ArrayBuffer.isView(value) && !(value instanceof DataView);
  if (Array.isArray(value) || isView) {
    const list = value as unknown as ArrayLike<unknown>;
    const count = Math.min(MOST_ELEMENTS, list.length);
    const shown = Array.from({ length: count }, (_, at) => lineOf(list[at]));
    const more = list.length > count ? `, … ${list.length - count} more` : "";
    return new Shown(`[${Shown.join(shown, ", ").text}${more}]`);
  }
  const fields = Object.entries(value).map(([key, each]) => phrase`${key}: ${lineOf(each)}`);
  return new Shown(`{${Shown.join(fields, ", ").text}}`);
}
