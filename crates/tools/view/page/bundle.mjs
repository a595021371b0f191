// Bundles the page into the given folder, with the licences of its libraries.

import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const out = process.argv[2];
if (out === undefined) throw new Error("Usage: node bundle.mjs FOLDER");

/** Packages that are copied into files of other packages, where esbuild cannot see them. */
const WITHIN = {
  "@dagrejs/dagre": ["@dagrejs/graphlib"],
  "@foxglove/rosmsg": ["md5-typescript", "nearley"],
};

/** Packages whose files are in the bundle, found by the paths that esbuild read. */
function packagesOf(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const names = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
    .filter((name) => name !== undefined);
  return [...new Set(names.flatMap((name) => [name, ...(WITHIN[name] ?? [])]))].sort();
}

async function licenceOf(name) {
  const folder = join("node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  const text =
    file === undefined ? `Licence: ${license}` : await readFile(join(folder, file), "utf8");
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

await mkdir(out, { recursive: true });
const { metafile } = await build({
  entryPoints: { app: "src/main.ts" },
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome120", "firefox121", "safari17.4"],
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  outdir: out,
  logLevel: "warning",
});
await copyFile("src/index.html", join(out, "index.html"));
const licences = await Promise.all(packagesOf(metafile).map(licenceOf));
const head = "Libraries within app.js and app.css, with their licences.\n";
await writeFile(join(out, "LICENSES.txt"), [head, ...licences].join(`\n${"-".repeat(80)}\n\n`));
