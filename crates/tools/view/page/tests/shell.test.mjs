// The page as a whole: connection, keys, themes, invalid addresses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MockServer } from "./mock/server.mjs";
import { hashOf, Session } from "./session.mjs";

test("when the server ends, the page reports that, and later shows the same again", async (t) => {
  const layout = { tab: "messages", messages: { p: [{ k: "tree", t: "/imu" }] } };
  const session = await Session.start(t, { layout });
  await session.untilText(".tree", "linear_acceleration");
  const { port } = session.server;
  await session.server.close();
  await session.untilText(".connection", "next attempt in");
  await session.untilText(".stale-line:not([hidden])", "Old values: there is no connection");
  const opacity = () => session.page.$eval(".pane", (each) => getComputedStyle(each).opacity);
  assert.equal(await opacity(), "0.5");
  session.server = new MockServer(session.robot);
  await session.server.listen(port);
  session.robot.start(session.server);
  // The click has no effect if the page has reconnected in the meantime.
  await session.page.$eval(".connection button", (each) => each.click());
  await session.untilText(".connection", "● feros view on mock");
  await session.until("no value is old", () => document.querySelector(".stale-line").hidden);
  assert.equal(await opacity(), "1");
  await session.untilServer("it subscribes again", () => session.server.subscribed.has("/imu"));
  const note = await session.text(".tree p");
  await session.until(
    "messages come again",
    (old) => document.querySelector(".tree p").textContent !== old,
    note,
  );
});

test("keys choose panes, go to filters and show their list", async (t) => {
  const session = await Session.start(t);
  const { page } = session;
  const chosen = () => page.$eval('[role="tab"][aria-selected="true"]', (each) => each.textContent);
  const names = ["Graph", "Messages", "Logs", "Parameters", "Nodes", "Bags", "Doctor"];
  for (const [at, name] of names.entries()) {
    await page.keyboard.press(String(at + 1));
    assert.equal(await chosen(), name);
  }
  await page.keyboard.press("3");
  await page.keyboard.press("/");
  assert.equal(
    await page.evaluate(() => document.activeElement.getAttribute("aria-label")),
    "Filter logs",
  );
  await page.keyboard.press("4");
  assert.equal(await chosen(), "Logs", "in a field, keys are letters");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  assert.ok(await page.$eval("dialog", (each) => each.open));
  await page.keyboard.press("Escape");
  await page.$eval('[aria-selected="true"]', (each) => each.focus());
  await page.keyboard.press("ArrowRight");
  assert.equal(await chosen(), "Parameters");
});

test("colours follow the system, or the stored choice of the user", async (t) => {
  const session = await Session.start(t, { theme: "dark" });
  const { page } = session;
  const back = () => page.$eval("body", (each) => getComputedStyle(each).backgroundColor);
  assert.equal(await back(), "rgb(20, 23, 27)");
  await session.click("button", "Theme: Auto");
  assert.equal(await back(), "rgb(244, 245, 247)");
  await page.reload();
  assert.equal(await back(), "rgb(244, 245, 247)");
});

test("addresses that are cut or invalid show the default layout", async (t) => {
  const session = await Session.start(t, { isStill: true });
  const { page, address } = session;
  const hostile = [
    "#v1.%%%",
    "#v1.e30",
    "#nothing",
    `#v1.${"A".repeat(50_000)}`,
    hashOf({ tab: 7, graph: 3 }),
    hashOf({
      tab: "messages",
      messages: {
        p: [
          { k: "plot", s: [1, {}], w: "x" },
          { k: "none" },
          3,
          { k: "scene", t: "x", v: ["a"], f: {} },
          { k: "tree", t: "<img src=x onerror=alert(1)>" },
        ],
      },
    }),
    hashOf({ tab: "logs", logs: { g: { __proto__: 1, constructor: "x" }, l: "no" } }),
  ];
  for (const hash of hostile) {
    await page.goto("about:blank");
    await page.goto(address + hash);
    await session.untilText(".connection", "● feros view on mock");
    assert.equal(await page.$("img"), null);
  }
  assert.deepEqual(session.errors, []);
});

test("the token of the address is the token of the socket", async (t) => {
  const session = await Session.start(t, { isStill: true });
  // The socket of the first address has to be open before the test waits for the next one.
  await session.untilText(".connection", "● feros view on mock");
  const asked = new Promise((resolve) => {
    session.server.sockets.once("connection", (_, request) => resolve(request.url));
  });
  await session.page.goto(`${session.address}?token=s%26cret`);
  assert.equal(await asked, "/?token=s%26cret");
});

test("the page shows the reason that the server gives for a refusal", async (t) => {
  const session = await Session.start(t, { isStill: true });
  await session.untilText(".connection", "● feros view on mock");
  session.server.refusal = "open the link that feros view printed: it contains the token";
  for (const { socket } of session.server.connections) socket.terminate();
  await session.untilText(".connection", "connection lost");
  await session.untilText(".connection", "it contains the token; next attempt in");
  session.server.refusal = null;
  // The click has no effect if the page has reconnected in the meantime.
  await session.page.$eval(".connection button", (each) => each.click());
  await session.untilText(".connection", "● feros view on mock");
});

test("each notice of the server is shown once, until it is dismissed", async (t) => {
  const session = await Session.start(t, { isStill: true });
  await session.untilText(".connection", "● feros view on mock");
  for (const message of ["one", "one", "two", "three", "four", "five"]) {
    session.server.tell({ op: "status", level: 1, message });
  }
  await session.untilText(".notices", "Warning: five");
  assert.equal((await session.page.$$(".notice")).length, 4);
  await session.click(".notice button", "Dismiss");
  assert.equal((await session.page.$$(".notice")).length, 3);
});
