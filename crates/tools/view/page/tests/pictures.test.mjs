// The drawn page, compared with kept pictures. FEROS_PICTURES=write replaces them. README and book
// have other pictures: `../pictures` makes them from running programs.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { Session, WATCHDOG_MS } from "./session.mjs";

const KEPT = fileURLToPath(new URL("kept/", import.meta.url));
/** README's pictures, and their copies for mdBook. */
const DOCUMENTED = ["figures/", "book/pages/"].map((folder) =>
  fileURLToPath(new URL(`../../../../../docs/${folder}`, import.meta.url)),
);
const IS_WRITING = process.env.FEROS_PICTURES === "write";
const MOST_BYTES = 200_000;
/** The share of pixels that may differ, since times of day and fonts of machines differ. */
const MOST_DIFFERENT = 0.06;
const SIZE = { width: 1200, height: 720 };

function different(one, other) {
  if (one.width !== other.width || one.height !== other.height) return 1;
  let count = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const isFar = [0, 1, 2].some(
      (each) => Math.abs(one.data[at + each] - other.data[at + each]) > 48,
    );
    if (isFar) count += 1;
  }
  return count / (one.width * one.height);
}

async function shoot(name, page) {
  const bytes = Buffer.from(await page.screenshot());
  assert.ok(bytes.length < MOST_BYTES, `${name} has ${bytes.length} bytes`);
  return bytes;
}

async function settle(name, page) {
  const path = KEPT + name;
  if (IS_WRITING) return writeFile(path, await shoot(name, page));
  const wanted = PNG.sync.read(await readFile(path));
  const end = Date.now() + WATCHDOG_MS;
  let part = 1;
  // The last message may not be drawn yet.
  while (part > MOST_DIFFERENT && Date.now() < end) {
    part = different(wanted, PNG.sync.read(await shoot(name, page)));
  }
  const advice = "look at the page, then run the tests with FEROS_PICTURES=write";
  assert.ok(part <= MOST_DIFFERENT, `${(part * 100).toFixed(1)} % of ${name} differ: ${advice}`);
}

test("the graph, with the mismatch chosen", async (t) => {
  const layout = { graph: { c: "topic /cmd_vel" } };
  const session = await Session.start(t, { layout, size: SIZE });
  await session.untilText(".edge text", "0 lost");
  await session.untilText(".details", "20.0 Hz");
  await settle("graph.png", session.page);
});

test("messages, with an image and a plot", async (t) => {
  const layout = {
    tab: "messages",
    messages: {
      p: [
        { k: "plot", s: ["/imu.linear_acceleration.x", "/imu.linear_acceleration.y"], w: 10 },
        { k: "image", t: "/camera/image_raw" },
        { k: "scene", t: ["/map", "/scan", "/points", "/plan", "/odom", "/markers"] },
      ],
    },
  };
  const session = await Session.start(t, { layout, size: SIZE, isStill: true });
  const { robot, server } = session;
  await session.untilServer("all is subscribed to", () => server.subscribed.size >= 10);
  // Each step has a time 50 ms after the last one, so the lines are the same on every machine.
  robot.server = server;
  robot.drive();
  for (let at = 0; at < 200; at++) {
    robot.seconds += 0.05;
    const { seconds } = robot;
    server.publish(
      "/imu",
      {
        header: { stamp: { sec: 0, nanosec: 0 }, frame_id: "base_link" },
        orientation: { x: 0, y: 0, z: 0, w: 1 },
        angular_velocity: { x: 0, y: 0, z: 0 },
        linear_acceleration: { x: Math.sin(seconds * 3), y: Math.cos(seconds * 2), z: 9.81 },
      },
      BigInt(Math.round(1e9 * (1_700_000_000 + seconds))),
    );
    await new Promise((resolve) => setTimeout(resolve, 35));
  }
  robot.look();
  robot.think();
  await session.untilText(".image p", "rgb8");
  await session.untilText(".scene li", "9 markers");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await settle("messages.png", session.page);
});

test("README and book have the same pictures", async () => {
  for (const name of ["view-graph.png", "view-messages.png"]) {
    const [one, other] = await Promise.all(DOCUMENTED.map((folder) => readFile(folder + name)));
    assert.ok(one.equals(other), `${name}: make both by crates/tools/view/page/pictures`);
  }
});
