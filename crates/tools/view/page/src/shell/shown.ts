// Text of others in the form in which the page shows it: characters that cannot be seen, or that
// reorder other text, are escaped as the command escapes them (`feros_wording::harmless`).

/** The characters for which `feros_wording::is_unseen` is true. */
const UNSEEN =
  /[\p{Cc}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const UNSEEN_IN_LINES = new RegExp(`(?![\\n\\t])${UNSEEN.source}`, "gu");
/** The scripts that are written from right to left; U+FEFF is no letter. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function escape(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** Escapes all unseen characters, including line breaks, as in `\u{1b}`. */
export function shown(text: string): string {
  return text.replace(UNSEEN, escape);
}

/** Replaces each unseen character, for texts with escapes of their own. */
export function escapeUnseen(text: string, write: (character: string) => string): string {
  return text.replace(UNSEEN, write);
}

export function hasUnseen(text: string): boolean {
  return text.search(UNSEEN) >= 0;
}

const MOST_CHARACTERS = 10_000;

/** Returns the beginning of a text of any length, and words about the rest that is left out. */
export function beginningOf(text: string): { start: string; rest: string } {
  const more = text.length - MOST_CHARACTERS;
  if (more <= 0) return { start: text, rest: "" };
  // This is a copy, since a slice would keep the whole text in memory.
  const start = [...text.slice(0, MOST_CHARACTERS)].join("");
  return { start, rest: ` … ${more} more characters` };
}

/** A text whose unseen characters are escaped; it may have marks of isolation by the page. */
export class Shown {
  constructor(readonly text: string) {}

  static join(parts: Shown[], between: string): Shown {
    return new Shown(parts.map(({ text }) => text).join(between));
  }
}

/** Returns what an element or attribute shows: a plain text is escaped, with its line breaks. */
export function textOfShown(text: string | Shown): string {
  return text instanceof Shown ? text.text : shown(text);
}

/** Escapes a text that may have several lines: its line breaks and tabs stay. */
export function lines(text: string): Shown {
  return new Shown(text.replace(UNSEEN_IN_LINES, escape));
}

/** Isolates a text that has words from right to left, so that these do not move its neighbours. */
function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** Composes a text from texts of others: each is escaped, and isolated from its neighbours. */
export function phrase(words: TemplateStringsArray, ...parts: (string | Shown)[]): Shown {
  const [first = "", ...others] = words;
  const shownParts = parts.map((each) => (each instanceof Shown ? each.text : shown(each)));
  return new Shown(first + shownParts.map((each, at) => isolated(each) + others[at]!).join(""));
}

/** Returns a list of texts of others, each of which is escaped and isolated. */
export function listed(parts: string[], between = ", "): Shown {
  return Shown.join(
    parts.map((each) => phrase`${each}`),
    between,
  );
}
