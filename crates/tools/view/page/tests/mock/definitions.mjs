// Schemas of messages and services from the repository's interfaces, with all types that they use,
// as a server advertises them; and writers and readers of their CDR.

import { CdrWriter } from "@foxglove/cdr";
import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const INTERFACES = fileURLToPath(new URL("../../../../../../interfaces", import.meta.url));
const RULE = "=".repeat(80);

/** The library cuts texts that are not ASCII. Other programs send texts with NUL, too. */
CdrWriter.prototype.string = function (text, writeLength = true) {
  const bytes = Buffer.from(text);
  if (writeLength) this.uint32(bytes.length + 1);
  return this.uint8Array(bytes).uint8(0);
};

function fileOf(type) {
  const [pkg, kind, name] = type.split("/");
  return join(INTERFACES, pkg, kind, `${name}.${kind}`);
}

/** Full names of the messages that a text of a package uses. */
function usedBy(text, pkg) {
  const types = text.split("\n").flatMap((line) => {
    const match = line.replace(/#.*/, "").match(/^\s*([A-Za-z_][\w/]*)(\[.*?\])?\s+[a-z]\w*\s*/);
    return match === null || (line.includes("=") && /^[A-Z0-9_]+=/.test(line.split(/\s+/)[1] ?? ""))
      ? []
      : [match[1]];
  });
  return types.flatMap((type) => {
    const [first, ...rest] = type.split("/");
    const full = rest.length === 0 ? `${pkg}/msg/${first}` : `${first}/msg/${rest.at(-1)}`;
    return existsSync(fileOf(full)) ? [full] : [];
  });
}

function withDependencies(text, pkg) {
  const found = new Map();
  const visit = (body, from) => {
    for (const type of usedBy(body, from)) {
      if (found.has(type)) continue;
      const inner = readFileSync(fileOf(type), "utf8");
      found.set(type, inner);
      visit(inner, type.split("/")[0]);
    }
  };
  visit(text, pkg);
  const parts = [...found].map(
    ([type, body]) => `${RULE}\nMSG: ${type.replace("/msg/", "/")}\n${body}`,
  );
  return [text, ...parts].join("\n");
}

const schemas = new Map();

export function messageSchema(type) {
  if (!schemas.has(type)) {
    schemas.set(type, withDependencies(readFileSync(fileOf(type), "utf8"), type.split("/")[0]));
  }
  return schemas.get(type);
}

export function serviceSchemas(type) {
  const [request, response] = readFileSync(fileOf(type), "utf8").split(/^---$/m);
  const pkg = type.split("/")[0];
  return [withDependencies(request, pkg), withDependencies(response, pkg)];
}

export function writerOf(schema) {
  return new MessageWriter(parse(schema, { ros2: true }));
}

export function readerOf(schema) {
  return new MessageReader(parse(schema, { ros2: true }));
}
