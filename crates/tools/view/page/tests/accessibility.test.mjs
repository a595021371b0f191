// In every pane, light, dark and on a phone, axe finds no fault, and nothing exceeds the edge.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Session, SIZES } from "./session.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** Pictures for people; no test reads them. */
const PICTURES = fileURLToPath(new URL("pictures/", import.meta.url));
const LAYOUT = {
  graph: { c: "topic /camera/image_raw > node /filter" },
  nodes: { n: "/filter" },
  parameters: { o: ["/camera"] },
  messages: {
    p: [
      { k: "tree", t: "/odom" },
      { k: "plot", s: ["/imu.linear_acceleration.x", "/imu.linear_acceleration.y"] },
      { k: "image", t: "/camera/image_raw" },
      { k: "text", t: "/chatter" },
      { k: "scene", t: ["/scan", "/map"] },
    ],
  },
};
const READY = {
  graph: [".layers", "notification"],
  messages: [".tree", "base_link"],
  logs: [".line .text", "Turn"],
  parameters: [".description", "Milliseconds"],
  nodes: [".lifecycle .state", "unconfigured"],
  bags: [".position", "of 60.0 s"],
  doctor: [".findings", "Cure"],
};
const VIEWS = [
  ["light", "desktop"],
  ["dark", "desktop"],
  ["light", "phone"],
  ["dark", "phone"],
];

/** Images arrive only once they are visible, and on a phone they are further down. */
async function showImage(session) {
  const scroll = (selector) => session.page.$eval(selector, (each) => each.scrollIntoView());
  await scroll(".kind-image");
  await session.untilText(".image p", "rgb8");
  await scroll(".messages .bar");
}

for (const [theme, size] of VIEWS) {
  test(`all panes, ${theme}, ${size}`, async (t) => {
    const session = await Session.start(t, { layout: LAYOUT, theme, size: SIZES[size] });
    const { page } = session;
    await mkdir(PICTURES, { recursive: true });
    await page.evaluate(await readFile(AXE, "utf8"));
    for (const [tab, ready] of Object.entries(READY)) {
      await page.click(`#tab-${tab}`);
      await session.untilText(`#pane-${tab} ${ready[0]}`, ready[1]);
      if (tab === "messages") await showImage(session);
      await page.screenshot({ path: `${PICTURES}${tab}-${theme}-${size}.png` });
      const { violations } = await page.evaluate(() => window.axe.run(document));
      const found = violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 160))
            .join(" | ")}`,
      );
      assert.deepEqual(found, [], `${tab}, ${theme}, ${size}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= SIZES[size].width, `${tab} is ${width} pixels wide`);
    }
    assert.deepEqual(session.errors, []);
  });
}
