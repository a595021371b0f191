// The view in 3D: points at their positions, in their colours; frames; messages whose frame is
// unknown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pose, transformOf } from "./mock/places.mjs";
import { Session, WATCHDOG_MS } from "./session.mjs";

const ALL = ["/points", "/scan", "/map", "/plan", "/particles", "/goal_pose", "/odom", "/markers"];
const scene = (state) => ({ tab: "messages", messages: { p: [{ k: "scene", ...state }] } });

/** Finds pixels of a colour: returns their number, and their centre as fractions of the view. */
function find(page, red, green, blue) {
  return page.$eval(
    ".scene canvas",
    (canvas, wanted) => {
      const copy = document.createElement("canvas");
      copy.width = canvas.width;
      copy.height = canvas.height;
      const context = copy.getContext("2d");
      context.drawImage(canvas, 0, 0);
      const { data } = context.getImageData(0, 0, copy.width, copy.height);
      let [count, x, y] = [0, 0, 0];
      for (let at = 0; at < data.length; at += 4) {
        if (wanted.some((value, each) => Math.abs(data[at + each] - value) > 3)) continue;
        count += 1;
        x += (at / 4) % copy.width;
        y += Math.floor(at / 4 / copy.width);
      }
      return { count, x: x / count / copy.width, y: y / count / copy.height };
    },
    [red, green, blue],
  );
}

/** Waits until pixels of a colour are near a position, given as fractions of the view. */
async function untilFound(page, colour, isThere) {
  const end = Date.now() + WATCHDOG_MS;
  for (;;) {
    const found = await find(page, ...colour);
    if (found.count > 0 && isThere(found)) return found;
    if (Date.now() > end) throw new Error(`${colour} is not there: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function cloud(frame, points) {
  const data = new Uint8Array(points.length * 16);
  const view = new DataView(data.buffer);
  points.forEach(([x, y, z, colour], at) => {
    [x, y, z].forEach((value, each) => view.setFloat32(at * 16 + each * 4, value, true));
    view.setUint32(at * 16 + 12, colour, true);
  });
  const field = (name, offset) => ({ name, offset, datatype: 7, count: 1 });
  return {
    header: { stamp: { sec: 10, nanosec: 0 }, frame_id: frame },
    height: 1,
    width: points.length,
    fields: ["x", "y", "z", "rgb"].map((name, at) => field(name, at * 4)),
    is_bigendian: false,
    point_step: 16,
    row_step: points.length * 16,
    data,
    is_dense: true,
  };
}

async function start(t, state) {
  const session = await Session.start(t, { layout: scene(state), isStill: true });
  await session.untilServer("subscribed", () => session.server.subscribed.has("/points"));
  return session;
}

test("every kind of message is at its position, and frames have their names", async (t) => {
  const session = await Session.start(t, { layout: scene({ t: ALL, b: true }) });
  await session.untilText(".scene li", "80×80 cells of 0.100 m");
  await session.untilText(".scene li", "40 poses");
  await session.untilText(".scene li", "9 markers");
  await session.until(
    "no problem is left",
    () =>
      !document.querySelector(".scene .problem") &&
      ![...document.querySelectorAll(".scene li")].some((each) =>
        /no message/.test(each.textContent),
      ),
  );
  const frames = await session.page.$eval('select[aria-label="Fixed frame"]', (each) =>
    [...each.options].map(({ value }) => value),
  );
  assert.deepEqual(frames, ["", "base_link", "camera_link", "laser", "map", "odom"]);
  await untilFound(session.page, [237, 77, 51], ({ count }) => count > 100);
  assert.equal(session.server.subscribed.get("/points"), 10);
  assert.equal(session.server.subscribed.get("/tf"), null, "no transform is left out");
  assert.equal(session.server.subscribed.get("/markers"), null, "no marker is left out");
  assert.deepEqual(session.errors, []);
});

test("points stand where transforms put them, in exactly their colours", async (t) => {
  // The camera looks straight down, from 10 m, on the origin: x is right, y is up.
  const session = await start(t, {
    t: ["/points"],
    v: [0, -0.01, 10, 0, 0, 0],
    f: "map",
    x: false,
  });
  const { server, page } = session;
  server.publish("/tf_static", { transforms: [transformOf(0, "map", "lidar", pose(3, 0, 0, 0))] });
  server.publish(
    "/points",
    cloud("lidar", [
      [0, 0, 0, 0xff0000],
      [0, 2, 0, 0x00ff7f],
    ]),
  );
  await session.until("a note", () => document.querySelector(".scene li .dim")?.textContent === "");
  const isRight = ({ x, y }) => x > 0.55 && Math.abs(y - 0.5) < 0.02;
  const red = await untilFound(page, [255, 0, 0], isRight);
  const isAbove = ({ x, y }) => Math.abs(x - red.x) < 0.02 && y < red.y - 0.1;
  await untilFound(page, [0, 255, 127], isAbove);
  // In the cloud's own frame, the point is in the middle.
  await page.select('select[aria-label="Fixed frame"]', "lidar");
  await untilFound(page, [255, 0, 0], ({ x }) => Math.abs(x - 0.5) < 0.02);
});

test("a missing transform or a wrong size is reported", async (t) => {
  const session = await start(t, { t: ["/points"], f: "map" });
  session.server.publish("/points", cloud("nowhere", [[0, 0, 0, 0xff0000]]));
  await session.untilText(".scene .problem", "no transform from nowhere to map");
  session.server.publish("/points", { ...cloud("map", [[0, 0, 0, 0]]), width: 1000 });
  await session.untilText(".scene .problem", "has 16 bytes, but its size and steps need");
  session.server.publish("/points", { ...cloud("map", [[0, 0, 0, 0]]), fields: [] });
  await session.untilText(".scene .problem", "lacks the field x, y or z");
  session.server.publish("/points", cloud("map", [[0, 0, 0, 0xff0000]]));
  await session.until("it is well again", () => !document.querySelector(".scene .problem"));
});

test("transforms and frames that are left out are counted", async (t) => {
  const session = await start(t, { t: ["/points"], f: "map" });
  const leftOut = ".scene .left-out";
  assert.equal(await session.page.$eval(leftOut, (each) => each.hidden), true);
  const place = pose(1, 2, 0, 0);
  const nowhere = { ...place, position: { x: NaN, y: 0, z: 0 } };
  const invalid = [
    transformOf(20, "map", "", place),
    transformOf(20, "loop", "loop", place),
    transformOf(20, "map", "nowhere", nowhere),
  ];
  const many = Array.from({ length: 2100 }, (_, at) => transformOf(20, "map", `f${at}`, place));
  session.server.publish("/tf", { transforms: [...invalid, ...many] });
  await session.untilText(leftOut, " transforms of frames above the limit of 2000");
  await session.untilText(leftOut, "3 invalid transforms (no name, ");
  await session.untilText(leftOut, " frames above the limit of 200 that are drawn");
  assert.deepEqual(session.errors, []);
});

test("a drag turns the view, and the address keeps it", async (t) => {
  const session = await start(t, { t: ["/points"] });
  const { page } = session;
  const hash = page.url();
  const box = await (await page.$(".scene canvas")).boundingBox();
  await page.mouse.move(box.x + 100, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 200, box.y + 80, { steps: 6 });
  await page.mouse.up();
  await session.until("the address changes", (old) => location.href !== old, hash);
});

test("the topic of transforms opens a view of their frames", async (t) => {
  const session = await Session.start(t, { layout: { tab: "messages" } });
  await session.click("button.topic", "/tf");
  await session.until("the frames are there", () => {
    const options = document.querySelector('select[aria-label="Fixed frame"]')?.options ?? [];
    return [...options].some(({ value }) => value === "base_link");
  });
  assert.equal((await session.page.$$(".scene li")).length, 0, "transforms have no row");
  assert.deepEqual(session.errors, []);
});
