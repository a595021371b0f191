// Texts of others: unseen characters are escaped wherever the page shows them, and words from right
// to left do not move their neighbours. Fields keep the true values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EVIL, Hostile, LONG, NAME, quoted, seen } from "./mock/hostile.mjs";
import { markersOf, pose, transformOf } from "./mock/places.mjs";
import { Robot } from "./mock/robot.mjs";
import { hashOf, Session } from "./session.mjs";

const SEEN = seen(EVIL);
/** Texts that may have several lines keep their line breaks. */
const LINES = seen(EVIL, "\n");
const STAMP = { sec: 1_700_000_000, nanosec: 0 };

test("the field of a parameter keeps the true value", async (t) => {
  const layout = { tab: "parameters", parameters: { o: [NAME] } };
  const session = await Session.start(t, { layout, robot: new Hostile(), isStill: true });
  const { page, robot } = session;
  const value = (name) => page.$eval(`[data-name$=".${name}"] input`, (each) => each.value);
  await session.untilText(".parameter", SEEN);
  assert.equal(await value("line"), EVIL.replace("\r\n", ""));
  // In a list, JSON has an escape for each of these characters.
  const list = await value("list");
  assert.match(list, /^\["ev\\u202eil\\u001b\[31m/);
  assert.deepEqual(JSON.parse(list), [EVIL]);
  await (await page.$('[data-name$=".list"] input')).focus();
  await page.keyboard.press("Enter");
  await session.untilText('[data-name$=".list"] .outcome', "✓ set");
  assert.deepEqual(robot.parameters.get(`${NAME}.list`).value, [EVIL]);
});

test("texts of all letters reach services as they are", async (t) => {
  const session = await Session.start(t, { layout: { tab: "nodes", nodes: { n: "/container" } } });
  const { page, server } = session;
  const request = async (name) => {
    const call = () => server.received.findLast((each) => each.op === "call" && each.name === name);
    await session.untilServer(`a call of ${name}`, () => call() !== undefined);
    return call().request;
  };
  const [accent, wide, robot] = ["Grüße e\u0301", "温度", "🤖 שלום"];
  await session.untilText(".components-list", "/talker");
  await page.type('[name="package_name"]', accent);
  await page.type('[name="plugin_name"]', wide);
  await page.type('[name="node_name"]', robot);
  await page.type('[name="parameters"]', `a:="${robot}" b:=${wide}`);
  await session.click(".load button", "Load");
  const load = await request("/container/_container/load_node");
  assert.equal(load.package_name, accent);
  assert.equal(load.plugin_name, wide);
  assert.equal(load.node_name, robot);
  assert.equal(load.node_namespace, "");
  const values = load.parameters.map(({ name, value }) => [name, value.type, value.string_value]);
  assert.deepEqual(values, [
    ["a", 4, robot],
    ["b", 4, wide],
  ]);
  await session.untilText(".components .outcome", `no plugin ${wide}`);
  await session.click('[role="tab"]', "Bags");
  const field = await session.find("input", "Folder of the new bag");
  await field.type(accent + wide + robot);
  await field.press("Enter");
  const { uri } = await request("/rosbag2_recorder/record");
  assert.equal(uri, accent + wide + robot);
});

/** Faults of a pane: unseen characters, elements that come from texts, and sideways scrolling. */
function faults(pane) {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const read = [document.title];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) read.push(node.data);
  const found = [];
  for (const each of document.querySelectorAll("*")) {
    for (const name of ["title", "aria-label", "placeholder", "aria-valuetext"]) {
      read.push(each.getAttribute(name) ?? "");
    }
    if (each.matches("img, .evil")) found.push(`an element comes from a text: ${each.outerHTML}`);
    const { overflowX } = getComputedStyle(each);
    const canScroll = overflowX === "auto" || overflowX === "scroll";
    const isTooWide = each.scrollWidth > each.clientWidth && !each.matches(".log");
    if (each.closest(pane) && canScroll && isTooWide) {
      const edge = each.getBoundingClientRect().left + each.clientLeft + each.clientWidth;
      const isCause = (node) => {
        const range = document.createRange();
        range.selectNode(node);
        return node.data?.trim() && range.getBoundingClientRect().right > edge;
      };
      const causes = [...each.querySelectorAll("*")]
        .filter((one) => [...one.childNodes].some(isCause))
        .map((one) => `${one.tagName}.${one.className} “${one.textContent.slice(0, 40)}”`);
      found.push(`${each.className} scrolls sideways for ${causes.slice(0, 5)}`);
    }
  }
  const bad =
    /(?![\n\t])[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/u;
  for (const each of read) if (bad.test(each)) found.push(`unseen: ${encodeURI(each)}`);
  return found;
}

async function startHostile(t, layout, size) {
  const session = await Session.start(t, { layout, size, robot: new Hostile(), isStill: true });
  t.after(() => assert.deepEqual(session.errors, []));
  await session.untilText(".connection", "● feros view on mock");
  return session;
}

async function check(session, pane) {
  assert.equal((await session.page.evaluate(faults, pane)).join("\n"), "");
}

test("hostile names in the graph", async (t) => {
  const session = await startHostile(t, {});
  const choices = [
    [`topic ${NAME}/text`, `/${SEEN}/text`, `Cure: ${LINES}`],
    [`topic ${NAME}/text > node ${NAME}`, `/${SEEN}/text`, `⚠ ${SEEN}`],
    [`node ${NAME}`, `/${SEEN}`, `/${SEEN}/action`],
    [`service ${NAME}/service`, `/${SEEN}/service`, `/${LONG}`],
    [`action ${NAME}/action`, `/${SEEN}/action`, `/${LONG}`],
    [`topic /${LONG}`, `/${LONG}`, "Show messages"],
    [`node /${LONG}`, `/${LONG}`, "Subscribes to"],
    ["", SEEN, "Matches by transport"],
  ];
  for (const [choice, heading, words] of choices) {
    const hash = hashOf({ graph: { c: choice, d: true } });
    await session.page.evaluate((each) => (location.hash = each), hash);
    await session.untilText(".details h2", heading);
    await session.untilText(".details", words);
    await session.untilText(".box title", `${SEEN}/text`);
    await check(session, "#pane-graph");
  }
});

test("hostile names and values in the messages", async (t) => {
  const topic = (name) => `${NAME}/${name}`;
  const panels = [
    { k: "scene", t: [topic("pose"), topic("markers")] },
    { k: "tree", t: topic("text") },
    { k: "text", t: topic("text") },
    { k: "tree", t: topic("markers") },
    { k: "text", t: topic("markers") },
    { k: "plot", s: [`${topic("number")}.data`] },
    { k: "image", t: topic("image") },
    { k: "image", t: topic("compressed") },
  ];
  const size = { width: 1600, height: 2400 };
  const session = await startHostile(t, { tab: "messages", messages: { p: panels } }, size);
  const { server } = session;
  const header = { stamp: STAMP, frame_id: `other ${EVIL}` };
  const marker = { ...markersOf(header).markers.at(-1), ns: EVIL, text: EVIL };
  const image = { header, height: 1, width: 1, encoding: EVIL, step: 1, data: [0] };
  // A frame cannot be its own parent; the slash of a name's beginning does not count.
  const transforms = [transformOf(0, EVIL, `child ${EVIL}`, pose(0, 0, 0, 0))];
  for (const [name, message] of Object.entries({
    [topic("text")]: { data: EVIL },
    [topic("number")]: { data: 1.5 },
    [topic("image")]: image,
    [topic("compressed")]: { header, format: EVIL, data: [1, 2, 3] },
    [topic("pose")]: { header, pose: pose(0, 0, 0, 0) },
    [topic("markers")]: { markers: [marker] },
    "/tf_static": { transforms },
  })) {
    await session.untilServer(`subscribed to ${seen(name)}`, () => server.subscribed.has(name));
    server.publish(name, message);
  }
  await session.untilText(".tree .value", quoted(EVIL));
  await session.untilText(".lines li", LINES);
  await session.untilText(".lines li", `ns: ${quoted(EVIL)}`);
  await session.untilText('select[aria-label="Fixed frame"]', `Fixed frame: child ${SEEN}`);
  await session.untilText(".scene li", `no transform from other ${SEEN} to base_link`);
  await session.untilText('select[aria-label="Add a topic"]', `${SEEN}/path`);
  await session.untilText(".plot .path", `${SEEN}/number.data`);
  await session.untilText(".plot .value", "1.5");
  await session.untilText(".image p", `The encoding ${SEEN} is not supported`);
  await session.untilText(".image p", `image of 3 bytes (${SEEN})`);
  await session.untilText(".topics", SEEN);
  await session.untilText(".topics", LONG);
  await check(session, "#pane-messages");
  server.publish(topic("text"), { data: "x".repeat(1_000_000) });
  await session.untilText(".tree .value", 'x" … 990000 more characters');
  await check(session, "#pane-messages");
});

test("hostile names and texts in the logs", async (t) => {
  const session = await startHostile(t, { tab: "logs" });
  const { server } = session;
  await session.untilServer("subscribed to /rosout", () => server.subscribed.has("/rosout"));
  const log = { stamp: STAMP, level: 20, line: 7 };
  for (const text of [EVIL, LONG, "x".repeat(1_000_000)]) {
    const texts = { name: text, msg: `12 ${text}`, file: text, function: text };
    server.publish("/rosout", { ...log, ...texts });
  }
  await session.untilText(".line .text", "more characters");
  await session.click(".line .text", `12 ${LINES}`);
  await session.untilText(".whole", `${LINES}:7 ${LINES}`);
  await session.untilText(".loggers", SEEN);
  await check(session, "#pane-logs");
  const level = await session.find("select", `Set the level of ${SEEN} in its node`);
  await level.select("10");
  await session.untilText(".remark", `the level of ${LINES} was not set: A text has a NUL`);
  await check(session, "#pane-logs");
});

test("hostile names and values in the parameters", async (t) => {
  const layout = { tab: "parameters", parameters: { o: [NAME, `/${LONG}`] } };
  const session = await startHostile(t, layout);
  await session.untilText(".parameters summary", SEEN);
  await session.untilText(".parameter .name", seen(EVIL.replace("\0", "")));
  await session.untilText(".parameter .name", LONG);
  await session.untilText(".parameter", `the value has unseen characters: ${SEEN}`);
  await session.untilText(".parameter .description", `${LINES} · ${LINES}`);
  await check(session, "#pane-parameters");
});

test("hostile names and answers in the nodes", async (t) => {
  const session = await startHostile(t, { tab: "nodes", nodes: { n: NAME } });
  const { page } = session;
  await session.untilText(".nodes tbody", SEEN);
  await session.untilText(".nodes tbody", LONG);
  await session.untilText(".nodes .distributions", `2 ${SEEN} (${SEEN})`);
  await session.untilText(".nodes .advice .cure", `Cure: ${SEEN}`);
  await session.untilText(".nodes .names", SEEN);
  await session.untilText(".lifecycle .state", SEEN);
  await session.untilText(".components-list", SEEN);
  await check(session, "#pane-nodes");
  await session.click(".lifecycle button", SEEN);
  await session.untilText(".lifecycle .outcome", "✕ A text has a NUL character");
  await page.type('[name="package_name"]', "demo");
  await page.type('[name="plugin_name"]', "demo::Nothing");
  await session.click(".load button", "Load");
  await session.untilText(".components .outcome", `✕ ${LINES}`);
  await check(session, "#pane-nodes");
});

test("hostile names and answers in the bags", async (t) => {
  const session = await startHostile(t, { tab: "bags" });
  await session.untilText("#pane-bags .player h2", SEEN);
  await session.untilText(".recorder h2", SEEN);
  await session.click(".recorder button", "Split");
  await session.untilText(".recorder .outcome", `failed: ${LINES}`);
  const field = await session.find("input", "Folder of the new bag");
  await field.type("taken");
  await field.press("Enter");
  await session.untilText(".recorder .outcome", `✕ ${LINES}`);
  await check(session, "#pane-bags");
});

test("hostile texts of the doctor, of notices and of the server", async (t) => {
  const session = await startHostile(t, { tab: "doctor" });
  const { server } = session;
  await session.untilText(".findings", `cure ${LINES}`);
  await session.untilText(".findings", `cure ${LONG}`);
  for (const message of [EVIL, LONG]) server.tell({ op: "status", level: 1, message });
  await session.untilText(".notices", `Warning: ${LINES}`);
  await session.untilText(".notices", `Warning: ${LONG}`);
  server.tell({ op: "serverInfo", name: EVIL, capabilities: [] });
  await session.untilText(".connection", `● ${SEEN}`);
  await check(session, "body");
  server.refusal = EVIL;
  for (const { socket } of server.connections) socket.terminate();
  await session.untilText(".connection", `✕ ${SEEN}`);
  await check(session, "body");
  // The browser reports each refusal as an error.
  session.errors = session.errors.filter((each) => !/401|WebSocket/.test(each));
});

/** A mismatch of two nodes whose names are written from right to left. */
class RightToLeft extends Robot {
  figures(measured) {
    const figures = super.figures(measured);
    const mismatch = { publisher: "/אבג", subscription: "/דהו", problem: "QoS", cure: "None." };
    figures.topics[0] = { ...figures.topics[0], mismatches: [mismatch] };
    return figures;
  }
}

test("names from right to left do not change the order of other texts", async (t) => {
  const session = await Session.start(t, { robot: new RightToLeft(), isStill: true });
  await session.untilText(".mismatch p", "אבג");
  const [publisher, arrow, subscription, problem] = await session.page.$eval(
    ".mismatch p",
    (paragraph) => {
      const texts = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
      const places = new Map();
      const range = document.createRange();
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
        [...node.data].forEach((letter, at) => {
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          const { left, top } = range.getBoundingClientRect();
          if (!places.has(letter)) places.set(letter, top * 10_000 + left);
        });
      }
      return [..."א→דQ"].map((letter) => places.get(letter));
    },
  );
  assert.ok(publisher < arrow && arrow < subscription && subscription < problem);
});
