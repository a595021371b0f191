// Creates elements in one expression. Untrusted text becomes text, never markup, and its unseen
// characters are escaped.

import { phrase, Shown, textOfShown } from "./shown";

type Child = Node | string | Shown | null | undefined | false;
type Handler = (event: never) => void;
type Property = string | Shown | number | boolean | null | undefined | Handler;

/** Creates an element: `on...` become listeners, other properties attributes, except for `null`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, Property> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, properties);
  append(element, children);
  return element;
}

/** Creates an SVG element in the same way. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Record<string, Property> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, properties);
  append(element, children);
  return element;
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child) element.append(child instanceof Node ? child : textOfShown(child));
  }
}

/** Attributes whose texts people read. */
const READ = new Set(["title", "placeholder", "aria-label", "aria-valuetext"]);

/** Sets an attribute; if people read it, its unseen characters are escaped. */
export function setAttribute(element: Element, name: string, value: string | Shown): void {
  const isRead = value instanceof Shown || READ.has(name);
  element.setAttribute(name, isRead ? textOfShown(value) : value);
}

function apply(element: Element, properties: Record<string, Property>): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value instanceof Shown) setAttribute(element, name, value);
    else setAttribute(element, name, value === true ? "" : String(value));
  }
}

const JOINTS = /(?<=[/_.:-])/;

/** Lets a name break at its separators, and within a word only if the word alone is too long. */
export function breakable(name: string | Shown): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const { text } = typeof name === "string" ? phrase`${name}` : name;
  text.split(JOINTS).forEach((part, at) => {
    if (at > 0) fragment.append(document.createElement("wbr"));
    fragment.append(part);
  });
  return fragment;
}

/** Sets the text of an element only if it differs, so that selections of the user survive. */
export function setText(element: Element, text: string | Shown): void {
  const shown = textOfShown(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** Creates a button; `label` is its name for screen readers if the text is only a symbol. */
export function button(
  text: string | Node,
  onClick: (event: MouseEvent) => void,
  options: { label?: string; class?: string; title?: string; disabled?: boolean } = {},
): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: options.class,
      "aria-label": options.label,
      title: options.title ?? options.label,
      disabled: options.disabled,
      onclick: onClick,
    },
    text,
  );
}

/** Creates a drop-down list. */
export function select(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  value: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const element = h("select", {
    "aria-label": label,
    title: label,
    onchange: () => onChange(element.value),
  });
  for (const [each, text] of options) element.append(h("option", { value: each }, text));
  element.value = value;
  return element;
}

/** Creates a checkbox with its label. */
export function checkbox(
  text: string,
  isOn: boolean,
  onChange: (isOn: boolean) => void,
): HTMLLabelElement {
  const input = h("input", { type: "checkbox", onchange: () => onChange(input.checked) });
  input.checked = isOn;
  return h("label", { class: "check" }, input, text);
}
