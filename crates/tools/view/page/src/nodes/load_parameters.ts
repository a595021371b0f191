// Parameters for a component that is loaded, in the form of the option `-p`: `rate:=2.5`.

/** The types of rcl_interfaces/ParameterType. */
const TYPES = { bool: 1, integer: 2, double: 3, string: 4 } as const;

export interface LoadParameter {
  name: string;
  value: Record<string, unknown>;
}

/** The unused fields of a rcl_interfaces/ParameterValue. */
const EMPTY = {
  bool_value: false,
  integer_value: 0n,
  double_value: 0,
  string_value: "",
  byte_array_value: [],
  bool_array_value: [],
  integer_array_value: [],
  double_array_value: [],
  string_array_value: [],
};

/** Throws if a word does not have the form `name:=value`. */
export function readLoadParameters(text: string): LoadParameter[] {
  const words = text.match(/(?:"[^"]*"|\S)+/g) ?? [];
  return words.map((word) => {
    const [, name, value] = word.match(/^([A-Za-z_][\w.]*):=(.*)$/s) ?? [];
    if (name === undefined || value === undefined || value === "") {
      throw new Error(`${word}: write each parameter as name:=value`);
    }
    return { name, value: valueOf(value) };
  });
}

function valueOf(text: string): Record<string, unknown> {
  if (text === "true" || text === "false") {
    return { ...EMPTY, type: TYPES.bool, bool_value: text === "true" };
  }
  if (/^[+-]?\d+$/.test(text)) {
    const integer_value = BigInt(text.replace("+", ""));
    if (BigInt.asIntN(64, integer_value) !== integer_value) {
      throw new Error(`${text}: an integer parameter has at most 64 bits`);
    }
    return { ...EMPTY, type: TYPES.integer, integer_value };
  }
  const number = Number(text);
  if (Number.isFinite(number)) return { ...EMPTY, type: TYPES.double, double_value: number };
  const string_value = text.replace(/^"(.*)"$/s, "$1");
  return { ...EMPTY, type: TYPES.string, string_value };
}
