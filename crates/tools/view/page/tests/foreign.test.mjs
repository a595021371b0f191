// Texts of others: unseen characters are escaped wherever the page shows them, and words from right
// to left do not move their neighbours. Fields keep the true values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Robot } from "./mock/robot.mjs";
import { Session } from "./session.mjs";

const EVIL = "ev\u202eil\u001b[31m\u0007\u2067";
const SEEN = "ev\\u{202e}il\\u{1b}[31m\\u{7}\\u{2067}";
const NAME = `/${EVIL}`;

/** A robot all of whose texts have characters that are not seen, or that reorder others. */
class Hostile extends Robot {
  topics = { ...this.topics, [`${NAME}/topic`]: "std_msgs/msg/String" };
  findings = [
    { area: EVIL, level: "error", text: `text ${EVIL}\nsecond line`, cure: `cure ${EVIL}` },
  ];

  constructor() {
    super();
    for (const [name, value] of [
      [`${NAME}.text`, EVIL],
      [`${NAME}.list`, [EVIL]],
    ]) {
      this.parameters.set(name, { name, value });
    }
  }

  figures(measured) {
    const figures = super.figures(measured);
    const [node] = figures.nodes;
    figures.host = EVIL;
    figures.nodes.push({ ...node, name: NAME, distribution: EVIL });
    figures.distributions[0] = { name: EVIL, participants: 1, libraries: [EVIL] };
    const mismatch = { publisher: NAME, subscription: NAME, problem: EVIL, cure: EVIL };
    const [topic] = figures.topics;
    const own = { ...topic, name: `${NAME}/topic`, types: [EVIL], mismatches: [mismatch] };
    figures.topics.push(own);
    figures.services.push({
      name: `${NAME}/s`,
      type: EVIL,
      servers: [NAME],
      clients: ["/planner"],
    });
    return figures;
  }
}

test("the field of a parameter keeps the true value", async (t) => {
  const layout = { tab: "parameters", parameters: { o: [NAME] } };
  const session = await Session.start(t, { layout, robot: new Hostile(), isStill: true });
  const { page, robot } = session;
  const value = (name) => page.$eval(`[data-name$=".${name}"] input`, (each) => each.value);
  await session.untilText(".parameter", SEEN);
  assert.equal(await value("text"), EVIL);
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
