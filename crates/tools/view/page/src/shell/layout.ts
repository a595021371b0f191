// The layout, kept in the address after `#`: everybody who opens the address sees the same page.
// The address has `#v1.` and JSON in base64url. If it is unreadable, the page shows the default
// layout.

import { Signal } from "../signal";

const PREFIX = "#v1.";
const LONGEST = 32_768;
/** Browsers refuse addresses that change too often, as during a drag. */
const WRITE_AFTER_MS = 250;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type Part = { [key: string]: Json | undefined };

export class Layout {
  /** The user changed the address, by hand or by going back. */
  readonly replaced = new Signal<void>();
  private parts: Part = {};
  private written = "";
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor() {
    this.read();
    window.addEventListener("pagehide", () => this.write());
    window.addEventListener("hashchange", () => {
      if (location.hash === this.written) return;
      if (this.timer !== null) clearTimeout(this.timer);
      this.timer = null;
      this.read();
      this.replaced.emit();
    });
  }

  /** Returns the part of a pane; its content is not checked. */
  part(name: string): Part {
    const part = this.parts[name];
    return part !== null && typeof part === "object" && !Array.isArray(part) ? part : {};
  }

  set(name: string, part: Part): void {
    this.parts = { ...this.parts, [name]: part };
    this.writeSoon();
  }

  get tab(): string {
    return typeof this.parts.tab === "string" ? this.parts.tab : "";
  }

  set tab(tab: string) {
    this.parts = { ...this.parts, tab };
    this.writeSoon();
  }

  private writeSoon(): void {
    this.timer ??= setTimeout(() => this.write(), WRITE_AFTER_MS);
  }

  private write(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    const bytes = new TextEncoder().encode(JSON.stringify(this.parts));
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    const text = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    this.written = PREFIX + text;
    history.replaceState(null, "", location.pathname + location.search + this.written);
  }

  private read(): void {
    this.parts = {};
    this.written = location.hash;
    if (!location.hash.startsWith(PREFIX) || location.hash.length > LONGEST) return;
    const text = location.hash.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/");
    try {
      const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
      const parts = JSON.parse(new TextDecoder().decode(bytes)) as Json;
      if (parts !== null && typeof parts === "object" && !Array.isArray(parts)) this.parts = parts;
    } catch {
      // If the address was cut in transit, the page shows the default layout.
    }
  }
}

/** These functions read values of a part; `otherwise` is used if the address lacks the value. */
export function textOf(value: Json | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

export function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

export function flagOf(value: Json | undefined, otherwise: boolean): boolean {
  return typeof value === "boolean" ? value : otherwise;
}

export function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

export function partsOf(value: Json | undefined): Part[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (each): each is Part => each !== null && typeof each === "object" && !Array.isArray(each),
  );
}
