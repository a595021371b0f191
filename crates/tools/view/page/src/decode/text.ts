// Texts in CDR. The library takes the number of UTF-16 code units for the number of bytes, so it
// cuts texts that are not ASCII. When it reads, it drops a byte order mark, and the last byte of a
// text that does not end with zero. The functions here replace those of the library everywhere.

import { CdrReader, CdrWriter } from "@foxglove/cdr";
import type { Definitions } from "./definitions";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const wideDecoder = new TextDecoder("utf-16le", { ignoreBOM: true });

/** Writes the length in bytes with the zero at the end, the bytes, and the zero. */
CdrWriter.prototype.string = function (this: CdrWriter, text: string, writeLength = true) {
  if (text.includes("\0")) {
    throw new Error("A text has a NUL character, at which programs in C and C++ would cut it.");
  }
  const bytes = encoder.encode(text);
  if (writeLength) this.uint32(bytes.length + 1);
  return this.uint8Array(bytes).uint8(0);
};

/** Reads a text with or without the zero at its end; bytes that are not UTF-8 become U+FFFD. */
CdrReader.prototype.string = function (this: CdrReader, length = this.uint32()) {
  const bytes = this.uint8Array(length);
  return decoder.decode(bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes);
};

const WIDE = "wstring";
/** The only field of the message that stands for a wide text; no real field has this name. */
const UNITS = "code units";

/**
 * Returns definitions in which each wide text is a message of its code units, because the library
 * does not read wide texts; `null` if there are no wide texts.
 */
export function withUnits(definitions: Definitions): Definitions | null {
  let hasWide = false;
  const changed = definitions.map((each) => ({
    ...each,
    definitions: each.definitions.map((field) => {
      if (field.type !== WIDE || field.isConstant === true) return field;
      hasWide = true;
      return { ...field, isComplex: true };
    }),
  }));
  const units = { name: UNITS, type: "uint32", isArray: true, isComplex: false };
  return hasWide ? [...changed, { name: WIDE, definitions: [units] }] : null;
}

/** Replaces the messages of code units within a value by their texts, in place. */
export function joinUnits(value: unknown): unknown {
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  const fields = value as Record<string, unknown>;
  const units = fields[UNITS];
  if (units instanceof Uint32Array) return wideText(units);
  for (const [key, each] of Object.entries(fields)) fields[key] = joinUnits(each);
  return value;
}

function wideText(units: Uint32Array): string {
  if (units.some((unit) => unit > 0xffff)) {
    throw new Error("A wide text has a code unit of more than 16 bits.");
  }
  return wideDecoder.decode(Uint16Array.from(units));
}
