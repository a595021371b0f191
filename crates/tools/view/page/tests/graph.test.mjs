// The pane of the graph: boxes, transports by word and line, mismatches with their cure.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Robot } from "./mock/robot.mjs";
import { layoutOf, Session } from "./session.mjs";

const edge = (from, to) => `.edge[data-id="${from} > ${to}"]`;

test("edges show their transport, latency, losses and QoS", async (t) => {
  const session = await Session.start(t);
  const { page } = session;
  const selector = edge("topic /camera/image_raw", "node /filter");
  await session.untilText(`${selector} text`, "intra-process");
  await session.untilText(`${selector} text`, "84.0 µs · 0 lost");
  await session.untilText(`${selector} text`, "reliable, volatile");
  await session.untilText('.box[data-id="topic /camera/image_raw"] text', "30.0 Hz · 922 kB");
  await session.untilText(`${edge("topic /points", "node /planner")} text`, "3 lost");
  const dash = (each) =>
    page.$eval(
      `${each} .line`,
      (line) => `${line.getAttribute("stroke-dasharray")} ${line.getAttribute("stroke-width")}`,
    );
  const lines = [
    await dash(selector),
    await dash(edge("topic /scan", "node /localization")),
    await dash(edge("topic /points", "node /planner")),
    await dash(edge("topic /cmd_vel", "node /base_driver")),
  ];
  assert.equal(new Set(lines).size, 4, `lines differ without colour: ${lines.join("; ")}`);
  assert.ok(await page.$('.box.service[data-id="service /clear_map"]'));
  assert.ok(await page.$('.box.action[data-id="action /follow_path"]'));
  assert.equal(await page.$('[data-id="topic /rosout"]'), null, "infrastructure stays away");
  assert.deepEqual(session.errors, []);
});

test("a mismatch is red and shows its problem, and its cure when it is chosen", async (t) => {
  const session = await Session.start(t);
  const { page } = session;
  const selector = edge("topic /cmd_vel", "node /base_driver");
  await session.untilText(`${selector} text`, "✕ mismatch");
  const colour = await page.$eval(`${selector} .line`, (each) => getComputedStyle(each).stroke);
  assert.equal(colour, "rgb(179, 32, 44)");
  await session.untilText(".details .mismatch", "Cure: Let /teleop publish reliably");
  await page.$eval(selector, (each) => each.focus());
  await page.keyboard.press("Enter");
  await session.untilText(".details h2", "/cmd_vel");
  await session.untilText(".details .mismatch", "the publisher is best effort");
  await session.untilText(".details .matches", "another host");
});

test("a chosen edge shows its latency by layer, readable without colour", async (t) => {
  const session = await Session.start(t);
  const { page } = session;
  const selector = edge("topic /camera/image_raw", "node /filter");
  await session.untilText(`${selector} text`, "intra-process");
  await page.$eval(selector, (each) => each.focus());
  await page.keyboard.press("Enter");
  await session.untilText(".details h3", "Latency by layer");
  await session.untilText(".layers caption", "300 messages");
  const rows = await page.$$eval(".layers tbody tr", (all) =>
    all.map((row) => [...row.cells].map((each) => each.textContent)),
  );
  assert.equal(rows.length, 6);
  assert.deepEqual(rows[2], ["3", "notification", "31.0 µs", "88.0 µs", "53 %"]);
  await session.untilText(".layers tfoot", "58.6 µs330 µs");
  const bar = await page.$eval(".layer-bar", (each) => ({
    label: each.getAttribute("aria-label"),
    numbers: [...each.querySelectorAll(".number")].map((number) => number.textContent),
    widths: [...each.querySelectorAll("rect")].map((part) => Number(part.getAttribute("width"))),
    fills: [...each.querySelectorAll("rect")].map((part) => getComputedStyle(part).fill),
  }));
  assert.match(bar.label, /client 7.0 %, engine write 3.9 %, notification 53 %, queue 31 %/);
  assert.deepEqual(bar.numbers, ["1", "3", "4"], "narrow layers have numbers only in the table");
  assert.ok(Math.abs(bar.widths.reduce((sum, each) => sum + each, 0) - 300) < 0.1);
  assert.ok(bar.fills.every((each, at) => at === 0 || each !== bar.fills[at - 1]));
  assert.deepEqual(session.errors, []);
});

test("without layers, the page shows how to get them", async (t) => {
  const robot = new Robot();
  const session = await Session.start(t, { robot });
  const choose = async (id) => {
    await session.untilText(`${id} text`, "lost");
    await session.page.$eval(id, (each) => each.focus());
    await session.page.keyboard.press("Enter");
  };
  // This edge is not the traced one.
  await choose(edge("topic /scan", "node /localization"));
  await session.untilText(".details", "FEROS_TRACE=/tmp/trace FEROS_TRACE_PERIOD=1s");
  await session.untilText(".details", "2 programs write traces");
  robot.traces = { folder: "/tmp/trace", problems: ["1.ferostrace is not a trace of Feros"] };
  await session.untilText(".details .problem", "1.ferostrace is not a trace of Feros");
  robot.traces = null;
  await session.untilText(".details", "FEROS_TRACE=FOLDER FEROS_TRACE_PERIOD=1s");
  await session.untilText(".details", "feros view --traces FOLDER");
  robot.traces = { folder: "/tmp/trace", problems: [] };
  await session.click(".check", "Measure");
  await session.untilText(".details", "The traces are not read: tick Measure");
  assert.deepEqual(session.errors, []);
});

test("a chosen node shows its process; the address contains the choice", async (t) => {
  const session = await Session.start(t);
  await session.click(".box.node", "/filter");
  await session.untilText(".details", "4006");
  await session.untilText(".details", "/camera/image_raw");
  await session.until("the address has it", () => location.hash.length > 10);
  assert.equal(layoutOf(session.page.url()).graph.c, "node /filter");
  await session.click(".details button", "/camera/image_raw");
  await session.untilText(".details", "Show messages");
  await session.click(".details button", "Show messages");
  await session.untilText(".image p", "rgb8");
});

/** A robot whose figures differ each time. */
class Counting extends Robot {
  figuresMs = 100;
  count = 0;

  figures(measured) {
    const figures = super.figures(measured);
    const image = figures.topics.find(({ name }) => name === "/camera/image_raw");
    image.lost = ++this.count;
    return figures;
  }
}

test("the details keep their elements while their values change", async (t) => {
  const layout = { graph: { c: "topic /camera/image_raw" } };
  const session = await Session.start(t, { layout, robot: new Counting(), isStill: true });
  const { page } = session;
  const button = await session.find(".details button", "Show messages");
  await page.evaluate(() =>
    getSelection().selectAllChildren(document.querySelector(".details h2")),
  );
  const facts = () => document.querySelector(".details dl").textContent;
  const untilOther = async () => {
    const old = await page.evaluate(facts);
    const isOther = (before) => document.querySelector(".details dl").textContent !== before;
    await session.until("the values change", isOther, old);
  };
  await untilOther();
  await untilOther();
  assert.ok(await button.evaluate((each) => each.isConnected), "the button stays");
  assert.equal(await page.evaluate(() => String(getSelection())), "/camera/image_raw");
  const { x, y, width, height } = await button.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await untilOther();
  await page.mouse.up();
  await session.until("the messages are shown", () => document.querySelector(".image") !== null);
});

test("the filter keeps matching boxes and their neighbours", async (t) => {
  const session = await Session.start(t);
  await session.untilText(".box .name", "/camera");
  await session.page.keyboard.press("/");
  await session.page.keyboard.type("scan");
  await session.until(
    "the camera goes",
    () =>
      !document.querySelector('[data-id="node /camera"]') &&
      document.querySelector('[data-id="node /lidar"]') !== null &&
      document.querySelector('[data-id="node /localization"]') !== null,
  );
});

test("the details of a node list its topics also if the filter hides them", async (t) => {
  const session = await Session.start(t, {
    layout: { graph: { c: "node /planner", q: "clear_map" } },
  });
  const { page } = session;
  await session.untilText(".details h2", "/planner");
  await session.until(
    "the filter applies",
    () => !document.querySelector('[data-id="node /camera"]'),
  );
  const lists = () =>
    page.$$eval(".details .names", (all) =>
      all.map((list) => [...list.children].map((each) => each.textContent)),
    );
  assert.deepEqual(await lists(), [["/plan"], ["/map", "/points"]]);
  await session.click(".details button", "/plan");
  await session.untilText(".details .dim", "topic");
  await session.untilText(".details", "Show messages");
});

test("topics are measured while they are shown, and figures end with the pane", async (t) => {
  const session = await Session.start(t);
  const { server } = session;
  const connection = () => [...server.connections][0];
  await session.untilServer("measured", () => connection()?.measured.has("/points") === true);
  await session.click(".check", "Measure");
  await session.untilServer("not measured", () => connection().measured.size === 0);
  await session.click('[role="tab"]', "Doctor");
  await session.untilServer("no figures", () => !connection().hasFigures);
});

test("the graph moves by drag, wheel and keys, and fits again", async (t) => {
  const session = await Session.start(t);
  const { page } = session;
  await session.untilText(".box .name", "/camera");
  const place = () => page.$eval("svg.graph > g", (each) => each.getAttribute("transform"));
  const places = [await place()];
  await page.mouse.move(100, 700);
  await page.mouse.down();
  await page.mouse.move(200, 650, { steps: 5 });
  await page.mouse.up();
  places.push(await place());
  await page.mouse.wheel({ deltaY: -300 });
  places.push(await place());
  await page.$eval(".box", (each) => each.focus());
  await page.keyboard.press("ArrowLeft");
  places.push(await place());
  assert.equal(new Set(places).size, 4, places.join(" | "));
  await session.click("button", "Fit");
  assert.equal(await place(), places[0]);
});
