// From CDR to values and back, by the schemas that the server advertises. Each is parsed when a
// message of it is first looked at.

import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";

export type Definitions = ReturnType<typeof parse>;
export type Value = Record<string, unknown>;

export class Codec {
  private parsed: Definitions | null = null;
  private reader: MessageReader | null = null;
  private writer: MessageWriter | null = null;

  constructor(private readonly schema: string) {}

  get definitions(): Definitions {
    this.parsed ??= parse(this.schema, { ros2: true });
    return this.parsed;
  }

  /** Throws where the bytes are not of this schema. */
  decode(bytes: Uint8Array): Value {
    this.reader ??= new MessageReader(this.definitions);
    return this.reader.readMessage<Value>(bytes);
  }

  encode(value: Value): Uint8Array {
    this.writer ??= new MessageWriter(this.definitions);
    return this.writer.writeMessage(value);
  }
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
