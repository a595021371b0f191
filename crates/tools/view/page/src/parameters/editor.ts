// One parameter: its value in a field that fits its type, and the outcome of a change.

import type { Outcome } from "../connection/parameters";
import type { Parameter, ParameterValue } from "../connection/protocol";
import { breakable, button, h, setText } from "../shell/dom";
import { escapeUnseen, hasUnseen, lines, phrase } from "../shell/shown";

export interface Description {
  description: string;
  readOnly: boolean;
  constraints: string;
}

const NO_ANSWER = "✕ the node did not answer";

type Set = (parameter: Parameter) => Promise<Outcome>;

/** Unseen characters in a list of texts; JSON has an escape for each, so the value is the same. */
function jsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function valueText(value: ParameterValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : escapeUnseen(JSON.stringify(value), jsonEscape);
}

/** Parses a value for a parameter of this kind; throws an `Error` with the expected form. */
export function parseValue(text: string, like: Parameter): ParameterValue {
  const { value, type } = like;
  if (typeof value === "string") return text;
  if (typeof value === "number") {
    const number = Number(text);
    const isNumber = text.trim() !== "" && Number.isFinite(number);
    if (!isNumber) throw new Error("Enter a number.");
    if (type !== "float64" && !Number.isSafeInteger(number)) {
      throw new Error("Enter an integer.");
    }
    return number;
  }
  let parsed: ParameterValue;
  try {
    parsed = JSON.parse(text) as ParameterValue;
  } catch {
    throw new Error("Enter a list such as [1, 2, 3].");
  }
  if (Array.isArray(value) && !Array.isArray(parsed)) {
    throw new Error("Enter a list such as [1, 2, 3].");
  }
  return parsed;
}

export class Editor {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly outcome = h("span", { class: "outcome", role: "status" });
  /** The value with its unseen characters escaped, if it has any: the field has the true value. */
  private readonly unseen = h("span", { class: "dim description" });
  private readonly description = h("span", { class: "dim description" });
  private isEdited = false;
  /** Whether the outcome says what is wrong with the text in the field. */
  private isComplaint = false;

  constructor(
    private parameter: Parameter,
    label: string,
    private readonly set: Set,
    private readonly canSet: boolean,
  ) {
    const isFlag = typeof parameter.value === "boolean";
    const isNumber = typeof parameter.value === "number";
    this.input = h("input", {
      type: isFlag ? "checkbox" : "text",
      inputmode: isNumber ? "decimal" : null,
      "aria-label": parameter.name,
      spellcheck: "false",
      disabled: !canSet,
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === "Escape") this.restore();
      },
      oninput: () => {
        this.isEdited = true;
        this.element.classList.add("edited");
        this.withdraw();
      },
      onchange: () => {
        if (isFlag) void this.send(this.input.checked);
      },
    });
    const form = h(
      "form",
      {
        onsubmit: (event: Event) => {
          event.preventDefault();
          if (!isFlag) this.submit();
        },
      },
      this.input,
      !isFlag && h("button", { type: "submit", disabled: !canSet }, "Set"),
      !isFlag && button("Undo", () => this.restore(), { class: "undo" }),
    );
    this.element = h(
      "li",
      { class: "parameter", "data-name": parameter.name },
      h("span", { class: "name" }, breakable(label)),
      form,
      h("span", { class: "dim type" }, this.typeName()),
      this.outcome,
      this.unseen,
      this.description,
    );
    this.show(parameter);
  }

  /** Whether this editor can show the parameter. */
  fits({ value, type }: Parameter, canSet: boolean): boolean {
    const own = this.parameter;
    const isSame = typeof own.value === typeof value && own.type === type;
    return isSame && Array.isArray(own.value) === Array.isArray(value) && this.canSet === canSet;
  }

  /** Shows a new value from the node, but keeps a text that the user is writing. */
  show(parameter: Parameter): void {
    this.parameter = parameter;
    const { value } = parameter;
    const isUnclear = typeof value === "string" && hasUnseen(value);
    setText(this.unseen, isUnclear ? phrase`the value has unseen characters: ${value}` : "");
    if (this.isEdited) return;
    if (typeof parameter.value === "boolean") this.input.checked = parameter.value;
    else this.input.value = valueText(parameter.value);
  }

  describe({ description, readOnly, constraints }: Description): void {
    const words = [readOnly ? "read-only" : "", description, constraints].filter(Boolean);
    setText(this.description, lines(words.join(" · ")));
    if (readOnly) {
      this.input.disabled = true;
      this.element.querySelector("button")?.setAttribute("disabled", "");
    }
  }

  private typeName(): string {
    const { value, type } = this.parameter;
    if (Array.isArray(value)) return type === "float64_array" ? "double[]" : "list";
    if (typeof value === "number") return type === "float64" ? "double" : "integer";
    return type === "byte_array" ? "bytes" : typeof value === "boolean" ? "bool" : typeof value;
  }

  private restore(): void {
    this.isEdited = false;
    this.element.classList.remove("edited");
    this.tell("", "");
    this.show(this.parameter);
  }

  private submit(): void {
    try {
      // A field drops line breaks, so a value that the user did not edit is sent as it came.
      const { value } = this.parameter;
      const isOld = !this.isEdited && typeof value === "string";
      void this.send(isOld ? value : parseValue(this.input.value, this.parameter));
    } catch (error) {
      this.tell("failed", (error as Error).message);
      this.isComplaint = true;
    }
  }

  /** Removes a complaint about the text when the text has become valid. */
  private withdraw(): void {
    if (!this.isComplaint) return;
    try {
      parseValue(this.input.value, this.parameter);
      this.tell("", "");
    } catch {
      // The text is still wrong.
    }
  }

  private async send(value: ParameterValue): Promise<void> {
    this.tell("", "setting …");
    const { name, type } = this.parameter;
    const change = { name, value, ...(type === undefined ? {} : { type }) };
    const { now, isSet, reason } = await this.set(change);
    this.isEdited = false;
    this.element.classList.remove("edited");
    const why = reason === null || reason === "" ? "" : `: ${reason}`;
    if (now === null) this.tell("failed", why === "" ? NO_ANSWER : `✕ refused${why}`);
    else if (isSet) this.tell("done", "✓ set");
    else this.tell("failed", `✕ refused${why}; the value is ${valueText(now.value)}`);
    this.show(now ?? this.parameter);
  }

  private tell(kind: string, words: string): void {
    this.isComplaint = false;
    this.outcome.className = `outcome ${kind}`;
    setText(this.outcome, lines(words));
  }
}
