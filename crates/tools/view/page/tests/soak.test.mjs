// All views at once under load: memory and elements do not grow. FEROS_SOAK_SECONDS makes it
// longer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "./session.mjs";

const SECONDS = Number(process.env.FEROS_SOAK_SECONDS ?? 20);
/** Buffers of points and trails must be full before growth of memory means anything. */
const WARM_UP_SECONDS = Math.max(12, SECONDS / 3);
const MOST_GROWTH_BYTES = 4_000_000;

const LAYOUT = {
  tab: "messages",
  messages: {
    p: [
      { k: "plot", s: ["/imu.linear_acceleration.x", "/odom.pose.pose.position.x"], w: 5 },
      { k: "tree", t: "/odom" },
      { k: "image", t: "/camera/image_raw" },
      { k: "text", t: "/imu" },
      { k: "scene", t: ["/points", "/scan", "/odom", "/markers", "/plan"] },
    ],
  },
};

async function measure(page) {
  await page.evaluate(() => {
    window.gc();
    window.gc();
  });
  const { JSHeapUsedSize, Nodes, JSEventListeners } = await page.metrics();
  return { bytes: JSHeapUsedSize, nodes: Nodes, listeners: JSEventListeners };
}

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

test("a busy page does not grow", async (t) => {
  const size = { width: 1280, height: 1600 };
  const session = await Session.start(t, { layout: LAYOUT, size, speed: 3 });
  const { page } = session;
  await session.untilText(".tree", "base_link");
  const visit = async () => {
    for (const tab of ["graph", "logs", "parameters", "nodes", "bags", "messages"]) {
      await page.click(`#tab-${tab}`);
      await pause(0.5);
    }
  };
  await visit();
  await pause(WARM_UP_SECONDS);
  await visit();
  const before = await measure(page);
  await pause(SECONDS);
  await visit();
  await pause(1);
  const after = await measure(page);
  const words = `${JSON.stringify(before)} then ${JSON.stringify(after)}`;
  t.diagnostic(words);
  assert.ok(after.bytes - before.bytes < MOST_GROWTH_BYTES, words);
  assert.ok(after.nodes <= before.nodes * 1.15 + 200, words);
  assert.ok(after.listeners <= before.listeners * 1.15 + 50, words);
  assert.deepEqual(session.errors, []);
});
