// The pane of messages: trees, plots that move, exact pixels, texts, and subscriptions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HEIGHT, OTHER_ENCODINGS, seenAt, WIDTH } from "./mock/images.mjs";
import { layoutOf, Session } from "./session.mjs";

const messages = (...panels) => ({ tab: "messages", messages: { p: panels } });

test("a click opens the tree, and its numbers go into one plot that moves", async (t) => {
  const session = await Session.start(t, { layout: messages() });
  const { page } = session;
  await session.click("button.topic", "/odom");
  await session.click("button.topic", "/imu");
  await session.untilText(".tree", "base_link");
  await session.click("button", "Plot /odom.pose.pose.position.x");
  await session.click("button", "Plot /imu.linear_acceleration.x");
  await session.untilText(".plot .path", "/imu.linear_acceleration.x");
  assert.equal((await page.$$(".kind-plot")).length, 1, "both lines are in one plot");
  const picture = () => page.$eval(".plot canvas", (each) => each.toDataURL());
  await session.until("both lines have values", () =>
    [...document.querySelectorAll(".plot .value")].every((each) => each.textContent !== "–"),
  );
  const [first, value] = [await picture(), await session.text(".plot li:last-child .value")];
  await session.until(
    "the plot moves",
    (old) => document.querySelector(".plot canvas").toDataURL() !== old,
    first,
  );
  await session.until(
    "the value changes",
    (old) => document.querySelector(".plot li:last-child .value").textContent !== old,
    value,
  );
  await session.click(".plot button", "Pause");
  await session.until("a paused plot stands", async () => {
    const canvas = document.querySelector(".plot canvas");
    const before = canvas.toDataURL();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return canvas.toDataURL() === before;
  });
  assert.deepEqual(session.errors, []);
});

test("a field can be entered, and other texts are refused", async (t) => {
  const session = await Session.start(t, { layout: messages({ k: "plot" }) });
  const field = await session.find("input", "Field to plot");
  await field.type("nonsense");
  await field.press("Enter");
  await session.until(
    "it is refused",
    () => !document.querySelector(".plot input").checkValidity(),
  );
  await session.write(field, "/joint_states.position[1]");
  await field.press("Enter");
  await session.untilText(".plot .path", "/joint_states.position[1]");
  await session.until("it has a value", () =>
    Number.isFinite(Number(document.querySelector(".plot .value").textContent)),
  );
});

test("every pixel on the screen has the colour that was sent", async (t) => {
  for (const encoding of [...OTHER_ENCODINGS, "png"]) {
    const topic = encoding === "png" ? "/camera/compressed" : `/images/${encoding}`;
    await t.test(encoding, async (inner) => {
      const session = await Session.start(inner, { layout: messages({ k: "image", t: topic }) });
      await session.untilText(".image p", `${WIDTH}×${HEIGHT}`);
      const pixels = await session.page.$eval(".image canvas", (canvas) => {
        const { width, height } = canvas;
        return [...canvas.getContext("2d").getImageData(0, 0, width, height).data];
      });
      assert.equal(pixels.length, WIDTH * HEIGHT * 4);
      const kind = encoding === "png" ? "rgb8" : encoding;
      for (let at = 0; at < WIDTH * HEIGHT; at++) {
        const wanted = seenAt(kind, at % WIDTH, Math.floor(at / WIDTH));
        const seen = pixels.slice(at * 4, at * 4 + 3);
        const isSame = wanted.every((value, each) => Math.abs(value - seen[each]) <= 1);
        assert.ok(isSame, `pixel ${at}: ${seen}, not ${wanted}`);
      }
      assert.deepEqual(session.errors, []);
    });
  }
});

test("a moving picture moves", async (t) => {
  const layout = messages({ k: "image", t: "/camera/image_raw" });
  const session = await Session.start(t, { layout });
  await session.untilText(".image p", "rgb8");
  const first = await session.page.$eval(".image canvas", (each) => each.toDataURL());
  await session.until(
    "it moves",
    (old) => document.querySelector(".image canvas").toDataURL() !== old,
    first,
  );
});

test("strings are listed in the order of their arrival", async (t) => {
  const session = await Session.start(t, { layout: messages({ k: "text", t: "/chatter" }) });
  await session.until("some lines", () => document.querySelectorAll(".lines li").length >= 3);
  assert.match(await session.text(".lines li:last-child"), /hello \d+\.\d/);
});

test("the page reports a message that cannot be decoded, and continues", async (t) => {
  const session = await Session.start(t, {
    layout: messages({ k: "tree", t: "/odom" }, { k: "tree", t: "/imu" }),
    isStill: true,
  });
  await session.untilServer("both are subscribed to", () => session.server.subscribed.size === 2);
  const odom = [...session.server.channels.values()].find(({ info }) => info.topic === "/odom");
  odom.writer = { writeMessage: () => new Uint8Array([0, 1, 0, 0, 7]) };
  session.server.publish("/odom", {});
  await session.untilText(".tree", "This message cannot be read");
  session.robot.start(session.server);
  await session.untilText(".tree", "linear_acceleration");
});

test("the page subscribes only to visible topics, at the rate of drawing", async (t) => {
  const panels = [
    "/camera/image_raw",
    "/images/bgr8",
    "/images/rgba8",
    "/images/bgra8",
    "/images/mono8",
    "/images/mono16",
    "/images/16UC1",
    "/images/32FC1",
    "/images/yuv422",
    "/images/bayer_rggb8",
  ].map((topic) => ({ k: "image", t: topic, b: true }));
  const session = await Session.start(t, { layout: messages(...panels) });
  const { server, page } = session;
  await session.untilText(".image p", "rgb8");
  assert.equal(server.subscribed.get("/camera/image_raw"), 10);
  assert.ok(!server.subscribed.has("/images/bayer_rggb8"), "it is below the edge of the window");
  await page.$eval(".grid .panel:last-child", (each) => each.scrollIntoView());
  await session.untilServer(
    "the last topic is subscribed to, and the first one no longer",
    () =>
      server.subscribed.has("/images/bayer_rggb8") && !server.subscribed.has("/camera/image_raw"),
  );
  await session.click('[role="tab"]', "Doctor");
  await session.untilServer("no topic behind another pane", () => server.subscribed.size === 0);
  await session.click('[role="tab"]', "Messages");
  await session.untilServer("topics are subscribed to again", () => server.subscribed.size > 0);
  // Another page in front hides this one; Chromium reports that on request.
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await session.untilServer("no topic of a hidden page", () => server.subscribed.size === 0);
});

test("the address keeps the displays", async (t) => {
  const session = await Session.start(t, { layout: messages({ k: "text", t: "/chatter" }) });
  const { page } = session;
  await session.click("button.topic", "/imu");
  await session.click("button", "New plot");
  await session.click("button", "Close Text /chatter");
  await session.until("the address has them", (length) => location.hash.length > length, 20);
  await session.until("the text is gone", () => {
    const text = location.hash.slice(4).replaceAll("-", "+").replaceAll("_", "/");
    return !atob(text).includes("chatter");
  });
  const { tab, messages: kept } = layoutOf(page.url());
  assert.equal(tab, "messages");
  assert.deepEqual(
    kept.p.map(({ k }) => k),
    ["tree", "plot"],
  );
  const other = await session.context.newPage();
  await other.goto(page.url());
  await other.waitForSelector(".kind-tree");
  assert.equal((await other.$$(".panel")).length, 2, "a colleague has the same displays");
});
