// Bundles modules of the page as for the browser, for tests without a browser.

import { build } from "esbuild";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../src/", import.meta.url));

export async function load(path) {
  const folder = await mkdtemp(join(tmpdir(), "feros-view-"));
  const outfile = join(folder, "module.mjs");
  try {
    await build({
      entryPoints: [SOURCE + path],
      bundle: true,
      format: "esm",
      outfile,
      platform: "node",
      target: "node20",
      logLevel: "warning",
      loader: { ".css": "empty" },
    });
    return await import(outfile);
  } finally {
    await rm(folder, { recursive: true });
  }
}
