// Converts CDR to values and back with the schemas that the server advertises. Each schema is
// parsed when its first message is decoded.

import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import type { Definitions } from "./definitions";
import { joinUnits, withUnits } from "./text";

export type Value = Record<string, unknown>;

export class Codec {
  private parsed: Definitions | null = null;
  private reader: ((bytes: Uint8Array) => Value) | null = null;
  private writer: MessageWriter | null = null;

  /** `null` if the server has no schema; an empty schema means a message without fields. */
  constructor(private readonly schema: string | null) {}

  /** The parsed schema; throws if there is no schema, or if it cannot be read. */
  get definitions(): Definitions {
    if (this.schema === null) throw new Error("the server has no definition of the message type");
    this.parsed ??= parse(this.schema, { ros2: true });
    return this.parsed;
  }

  /** Throws if the bytes do not match this schema. */
  decode(bytes: Uint8Array): Value {
    this.reader ??= readerOf(this.definitions);
    return this.reader(bytes);
  }

  encode(value: Value): Uint8Array {
    this.writer ??= new MessageWriter(this.definitions);
    return this.writer.writeMessage(value);
  }
}

function readerOf(definitions: Definitions): (bytes: Uint8Array) => Value {
  const wide = withUnits(definitions);
  const reader = new MessageReader(wide ?? definitions);
  const read = (bytes: Uint8Array): Value => reader.readMessage<Value>(bytes);
  return wide === null ? read : (bytes) => joinUnits(read(bytes)) as Value;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
