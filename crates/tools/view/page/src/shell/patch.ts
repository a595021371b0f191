// Gives an element new content, and keeps the old elements that fit: a button that is pressed, a
// selection and the focus survive the update.

/** An element stays only for an element with the same tag and with these same attributes. */
const IDENTITY = ["class", "data-key", "data-choose", "data-open"];

function identityOf(node: Node): string {
  if (!(node instanceof Element)) return node.nodeName;
  const parts = IDENTITY.map((name) => node.getAttribute(name) ?? "");
  return [node.nodeName, ...parts].join("\n");
}

/** Replaces the children of an element. The new elements must not have listeners of their own. */
export function patchChildren(parent: Node, wanted: readonly Node[]): void {
  const old = [...parent.childNodes];
  const identities = old.map(identityOf);
  let next = 0;
  for (const node of wanted) {
    const at = identities.indexOf(identityOf(node), next);
    if (at < 0) {
      parent.insertBefore(node, old[next] ?? null);
      continue;
    }
    for (const each of old.slice(next, at)) each.remove();
    patch(old[at]!, node);
    next = at + 1;
  }
  for (const each of old.slice(next)) each.remove();
}

function patch(kept: ChildNode, wanted: Node): void {
  if (kept instanceof CharacterData && wanted instanceof CharacterData) {
    if (kept.data !== wanted.data) kept.data = wanted.data;
  } else if (kept instanceof Element && wanted instanceof Element) {
    for (const name of kept.getAttributeNames()) {
      if (!wanted.hasAttribute(name)) kept.removeAttribute(name);
    }
    for (const { name, value } of wanted.attributes) {
      if (kept.getAttribute(name) !== value) kept.setAttribute(name, value);
    }
    patchChildren(kept, [...wanted.childNodes]);
  }
}
