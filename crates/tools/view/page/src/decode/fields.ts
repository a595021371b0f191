// Paths to fields of messages, such as `/odom.pose.pose.position.x` or `/joint_states.position[2]`,
// and the numbers that the paths lead to. A topic's name has no dot, so the first dot ends the
// name.

import type { Definitions } from "./definitions";

export interface FieldPath {
  topic: string;
  steps: (string | number)[];
}

const STEP = /\.([A-Za-z_]\w*)|\[(\d+)\]/y;

/** Parses a path; returns `null` if the text is not a path of a field. */
export function parsePath(text: string): FieldPath | null {
  const dot = text.indexOf(".");
  if (dot < 2 || !text.startsWith("/")) return null;
  const steps: (string | number)[] = [];
  STEP.lastIndex = dot;
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text);
    if (match === null) return null;
    steps.push(match[1] ?? Number(match[2]));
  }
  return { topic: text.slice(0, dot), steps };
}

export function isNumeric(value: unknown): boolean {
  return asNumber(value) !== null;
}

/** Converts a value to a number for a plot: booleans become 0 and 1, times become seconds. */
export function asNumber(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "bigint") return Number(value);
  if (isTime(value)) return value.sec + value.nanosec / 1e9;
  return null;
}

export function isTime(value: unknown): value is { sec: number; nanosec: number } {
  return (
    value !== null &&
    typeof value === "object" &&
    Object.keys(value).length === 2 &&
    "sec" in value &&
    "nanosec" in value
  );
}

export function valueAt(value: unknown, steps: (string | number)[]): unknown {
  let at: unknown = value;
  for (const step of steps) {
    if (at === null || typeof at !== "object") return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

const NUMBERS = new Set([
  "bool",
  "int8",
  "uint8",
  "int16",
  "uint16",
  "int32",
  "uint32",
  "int64",
  "uint64",
  "float32",
  "float64",
  "time",
  "duration",
]);

/** Paths to the numbers of a schema, for a plot; for an array, the path to its first element. */
export function numericFields(definitions: Definitions, most: number): string[] {
  const byName = new Map(definitions.map((each) => [each.name ?? "", each.definitions]));
  const found: string[] = [];
  const walk = (fields: Definitions[number]["definitions"], path: string, depth: number): void => {
    for (const field of fields) {
      if (field.isConstant === true || found.length >= most) continue;
      const here = `${path}.${field.name}${field.isArray === true ? "[0]" : ""}`;
      const inner = field.isComplex === true ? byName.get(field.type) : undefined;
      if (inner !== undefined && depth < 12) walk(inner, here, depth + 1);
      else if (NUMBERS.has(field.type)) found.push(here);
    }
  };
  const root = definitions.find((each) => each.name === undefined) ?? definitions[0];
  if (root !== undefined) walk(root.definitions, "", 0);
  return found;
}
