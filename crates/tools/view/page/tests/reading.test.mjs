// Readable text: nothing is covered, cut or broken, empty lists give a reason, and no text is
// wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Robot } from "./mock/robot.mjs";
import { Session, SIZES } from "./session.mjs";

const WIDE = { width: 1400, height: 900 };
const LONG = "/warehouse_robot_17/perception/front_left_stereo_camera";

/** A robot with names as long as those of real robots. */
class LongNames extends Robot {
  topics = {
    ...this.topics,
    [`${LONG}/disparity_image_compressed`]: "sensor_msgs/msg/CompressedImage",
    "/interactive_marker_display_1002/update": "visualization_msgs/msg/InteractiveMarkerUpdate",
  };

  figures(measured) {
    const figures = super.figures(measured);
    figures.nodes.push({ ...figures.nodes[0], name: `${LONG}_rectification_component` });
    return figures;
  }

  constructor() {
    super();
    const name = `${LONG}_rectification_component.interpolation_of_the_rectified_picture`;
    this.parameters.set(name, { name, value: 1 });
  }
}

/** Elements that scroll sideways, and names that break at places other than their joints. */
function faults(pane) {
  const found = [];
  const root = document.querySelector(pane);
  for (const each of root.querySelectorAll("*")) {
    const { overflowX } = getComputedStyle(each);
    const scrolls = overflowX === "auto" || overflowX === "scroll";
    if (scrolls && each.scrollWidth > each.clientWidth) {
      found.push(`${each.tagName}.${each.className} scrolls sideways`);
    }
  }
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let [before, last] = [null, ""];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest("svg, select"))
      continue;
    const block = node.parentElement;
    [...node.data].forEach((letter, at) => {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const { top, height } = range.getBoundingClientRect();
      const isBroken = before?.block === block && top > before.top + height / 2;
      if (isBroken && !/[\s/_.:-]/.test(last + letter)) found.push(`${block.textContent} at ${at}`);
      if (height > 0) before = { block, top };
      last = letter;
    });
  }
  return found;
}

test("lists break names at their separators, and no list scrolls sideways", async (t) => {
  const layout = { parameters: { o: [`${LONG}_rectification_component`] } };
  const session = await Session.start(t, { layout, size: WIDE, robot: new LongNames() });
  const { page } = session;
  const ready = {
    messages: [".topics", "InteractiveMarkerUpdate"],
    parameters: [".parameter .name", "interpolation"],
    nodes: [".nodes table", "rectification"],
    logs: [".loggers", "camera"],
    graph: [".details", "Matches by transport"],
  };
  for (const [tab, [selector, words]] of Object.entries(ready)) {
    await page.click(`#tab-${tab}`);
    await session.untilText(`#pane-${tab} ${selector}`, words);
    assert.deepEqual(await page.evaluate(faults, `#pane-${tab}`), [], tab);
  }
});

test("on a phone, the text of a log is below its logger, and both are seen", async (t) => {
  const layout = { tab: "logs" };
  const session = await Session.start(t, { layout, size: SIZES.phone, isStill: true });
  const { page, server } = session;
  await session.untilServer("it is subscribed to", () => server.subscribed.has("/rosout"));
  for (const msg of ["short", "the camera does not answer, and will be started again ".repeat(4)]) {
    server.publish("/rosout", {
      ...{
        stamp: { sec: 1, nanosec: 0 },
        level: 30,
        name: LONG.slice(1).replaceAll("/", "."),
        msg,
      },
      ...{ file: "a.rs", function: "f", line: 1 },
    });
  }
  await session.untilText(".line .text", "started again");
  const lines = await page.$$eval(".line", (all) =>
    all.map((line) => {
      const box = (each) => each.getBoundingClientRect().toJSON();
      const [logger, text] = [".logger", ".text"].map((each) => box(line.querySelector(each)));
      return { line: box(line), logger, text };
    }),
  );
  assert.equal(lines.length, 2);
  for (const { line, logger, text } of lines) {
    assert.ok(text.top >= logger.bottom - 1, `${text.top} is below ${logger.bottom}`);
    assert.ok(text.bottom <= line.bottom + 1 && logger.top >= line.top - 1, "within its row");
    assert.ok(text.width > 200 && text.right <= 390 && logger.right <= 390, `${text.width}`);
  }
  assert.ok(lines[1].line.top >= lines[0].line.bottom - 1, "no row covers another");
  assert.ok(await page.$eval(".log", (each) => each.scrollWidth <= each.clientWidth));
});

test("a long log ends with an ellipsis, and a press shows all of its lines", async (t) => {
  const session = await Session.start(t, { layout: { tab: "logs" }, size: WIDE, isStill: true });
  const { page, server } = session;
  await session.untilServer("it is subscribed to", () => server.subscribed.has("/rosout"));
  const msg = `${"the camera does not answer ".repeat(20)}\nthe second line\nthe third line`;
  server.publish("/rosout", {
    ...{ stamp: { sec: 1, nanosec: 0 }, level: 30, name: "camera", msg },
    ...{ file: "a.rs", function: "f", line: 1 },
  });
  await session.untilText(".line .text", "does not answer");
  const row = await page.$eval(".line .text", (each) => ({
    isCut: each.scrollWidth > each.clientWidth,
    end: getComputedStyle(each).textOverflow,
    right: each.getBoundingClientRect().right,
  }));
  assert.ok(row.isCut && row.end === "ellipsis" && row.right <= WIDE.width, JSON.stringify(row));
  assert.ok(await page.$eval(".log", (each) => each.scrollWidth <= each.clientWidth));
  await session.untilText(".line .more", "+2 lines");
  await session.click(".line .text", "does not answer");
  await session.untilText(".whole", "the third line");
  const tops = await page.$eval(".whole", (each) => {
    const texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      for (const words of ["the second line", "the third line"]) {
        const at = node.data.indexOf(words);
        if (at < 0) continue;
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + words.length);
        found.push(range.getBoundingClientRect().top);
      }
    }
    return found;
  });
  assert.ok(tops.length === 2 && tops[1] > tops[0], `${tops}`);
});

test("a notice covers nothing", async (t) => {
  const session = await Session.start(t, { isStill: true });
  await session.untilText(".connection", "● feros view on mock");
  for (const message of ["one", "two", "three"]) {
    session.server.tell({ op: "status", level: 1, message });
  }
  await session.untilText(".notices", "three");
  const [notices, panes] = await session.page.evaluate(() =>
    [".notices", "main"].map((each) =>
      document.querySelector(each).getBoundingClientRect().toJSON(),
    ),
  );
  assert.ok(notices.height > 0 && panes.height > 300, `${notices.height} and ${panes.height}`);
  assert.ok(notices.bottom <= panes.top, `${notices.bottom} is below ${panes.top}`);
});

/** A robot whose topics have many subscriptions each, close together. */
class Crowd extends Robot {
  figures(measured) {
    const figures = super.figures(measured);
    const names = figures.nodes.map(({ name }) => name).slice(0, 7);
    const [one] = figures.edges;
    for (const topic of figures.topics.filter(({ name }) => ["/scan", "/map"].includes(name))) {
      const problem = "RELIABILITY: the publisher offers less than the subscription asks for";
      topic.mismatches = names.slice(0, 3).map((subscription) => {
        return { publisher: "/lidar", subscription, problem, cure: "Offer more." };
      });
      const durability = "transient_local";
      for (const subscription of names.slice(3)) {
        figures.edges.push({ ...one, topic: topic.name, subscription, durability });
      }
    }
    return figures;
  }
}

test("texts of edges are above all lines, and no text is cut", async (t) => {
  const session = await Session.start(t, { size: WIDE, robot: new Crowd() });
  await session.untilText(".edge text", "RELIABILITY");
  const [count, covered] = await session.page.evaluate(() => {
    const texts = [...document.querySelectorAll(".edge text")].filter((each) => {
      const { left, right, top, bottom } = each.getBoundingClientRect();
      const { clientWidth, clientHeight } = document.querySelector(".canvas");
      return (
        each.textContent && left > 0 && right < clientWidth && top > 90 && bottom < clientHeight
      );
    });
    const faults = texts.flatMap((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      const points = [left + 1, (left + right) / 2, right - 5].map((x) =>
        document.elementFromPoint(x, (top + bottom) / 2)?.closest(".edge"),
      );
      return points.every((each) => each === text.closest(".edge")) ? [] : [text.textContent];
    });
    return [texts.length, faults];
  });
  assert.ok(count > 20, `${count} lines of words are seen`);
  assert.deepEqual(covered, []);
});

test("the graph can be read on a phone, and is fitted when asked", async (t) => {
  const session = await Session.start(t, { size: SIZES.phone });
  await session.untilText(".edge text", "0 lost");
  const pixels = () => session.page.$eval(".box .words", (each) => each.getScreenCTM().a * 11);
  assert.ok((await pixels()) >= 8.5, `${await pixels()} pixels`);
  const seen = await session.page.evaluate(() => {
    const canvas = document.querySelector(".canvas").getBoundingClientRect();
    return [...document.querySelectorAll(".box")].filter((each) => {
      const { left, right, top, bottom } = each.getBoundingClientRect();
      return (
        left >= canvas.left && right <= canvas.right && top >= canvas.top && bottom <= canvas.bottom
      );
    }).length;
  });
  assert.ok(seen >= 3, `${seen} boxes are seen`);
  await session.click("button", "Fit");
  assert.ok((await pixels()) < 8.5, "all of it");
});

test("empty logs show the reason", async (t) => {
  const session = await Session.start(t, { layout: { tab: "logs" }, isStill: true });
  const { page, server } = session;
  const isHidden = () => page.$eval(".logs .hint", (each) => each.hidden);
  await session.untilText(".logs .hint", "No node has logged anything since");
  await session.untilServer("it is subscribed to", () => server.subscribed.has("/rosout"));
  server.publish("/rosout", {
    ...{ stamp: { sec: 1, nanosec: 0 }, level: 10, name: "camera", msg: "quiet" },
    ...{ file: "a.rs", function: "f", line: 1 },
  });
  await session.untilText(".logs .hint", "hide all of the last 1 lines: each is below Info");
  await page.select('select[aria-label="Minimum level"]', "10");
  await session.untilText(".line .text", "quiet");
  assert.ok(await isHidden());
  await session.write(await session.find("input", "Filter logs"), "loud");
  await session.untilText(".logs .hint", "or does not contain “loud”");
  const id = [...server.channels.values()].find(({ info }) => info.topic === "/rosout").info.id;
  await session.click("button", "Clear");
  server.tell({ op: "unadvertise", channelIds: [id] });
  await session.untilText(".logs .hint", "there is no topic /rosout");
});

test("parameters come node by node, and the pane waits for all nodes", async (t) => {
  const session = await Session.start(t, { isStill: true });
  const { server } = session;
  await session.untilText(".connection", "● feros view on mock");
  const take = server.take.bind(server);
  let answer = null;
  server.take = (connection, text) => {
    if (text.op === "getParameters") answer = () => take(connection, text);
    else take(connection, text);
  };
  await session.click('[role="tab"]', "Parameters");
  await session.untilServer("it is asked", () => answer !== null);
  await session.untilText(".parameters .hint", "Waiting for the nodes …");
  const parameter = { name: "/camera.exposure", value: 12.5, type: "float64" };
  server.tell({ op: "parameterValues", parameters: [parameter] });
  await session.untilText(".parameters summary", "/camera");
  await session.untilText(".parameters .bar", "Waiting for more nodes …");
  server.system.parameters.clear();
  answer();
  await session.untilText(".parameters .hint", "No node has parameters.");
  assert.equal(await session.text(".parameters .bar [role=status]"), "");
});
