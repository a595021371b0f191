// The panes of logs, parameters, nodes, bags and the doctor: their content, and that clicks reach
// the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "./session.mjs";

const calls = (session, name) =>
  session.server.received.filter((each) => each.op === "call" && each.name === name);

function log(level, name, msg) {
  return {
    stamp: { sec: 1_700_000_000, nanosec: 5_000_000 },
    level,
    name,
    msg,
    file: "a.rs",
    function: "f",
    line: 7,
  };
}

test("logs are filtered by level, by logger and by text", async (t) => {
  const session = await Session.start(t, { layout: { tab: "logs" }, isStill: true });
  const { page, server } = session;
  await session.untilServer("it is subscribed to", () => server.subscribed.has("/rosout"));
  assert.equal(server.subscribed.get("/rosout"), null, "no line is left out");
  for (const [level, name, text] of [
    [10, "camera", "quiet"],
    [20, "camera", "starts"],
    [30, "planner", "slow"],
    [40, "planner", "no path"],
    [20, "arm.joint", "moves"],
  ]) {
    server.publish("/rosout", log(level, name, text));
  }
  const lines = () => page.$$eval(".line .text", (all) => all.map((each) => each.textContent));
  const until = (...wanted) =>
    session.until(
      wanted.join(),
      (texts) =>
        [...document.querySelectorAll(".line .text")].map((each) => each.textContent).join() ===
        texts,
      wanted.join(),
    );
  await until("starts", "slow", "no path", "moves");
  await page.select('select[aria-label="Minimum level"]', "40");
  await until("no path");
  await page.select('select[aria-label="Minimum level of camera"]', "10");
  await until("quiet", "starts", "no path");
  await session.write(await session.find("input", "Filter logs"), "path");
  await until("no path");
  assert.deepEqual(await lines(), ["no path"]);
  await session.untilText(".loggers", "1 error, 1 warn");
  await session.click(".line .text", "no path");
  await session.untilText(".whole", "a.rs:7 f");
  await page.select('select[aria-label="Set the level of camera in its node"]', "10");
  await session.untilText(".rows", "the level of camera is now Debug");
  const [{ request }] = calls(session, "/camera/set_logger_levels");
  assert.equal(request.levels[0].name, "camera");
  assert.equal(request.levels[0].level, 10);
});

test("a flood of logs keeps the last ones and few elements", async (t) => {
  const session = await Session.start(t, { layout: { tab: "logs" }, isStill: true });
  const { server, page } = session;
  await session.untilServer("it is subscribed to", () => server.subscribed.has("/rosout"));
  for (let at = 0; at < 7000; at++) server.publish("/rosout", log(20, "flood", `line ${at}`));
  await session.untilText(".bar", "5000 of the last 5000 lines");
  await session.untilText(".line .text", "line 6999");
  assert.ok((await page.$$(".line")).length < 100);
});

test("logs report the period in which the pane was hidden", async (t) => {
  const session = await Session.start(t, { layout: { tab: "logs" } });
  await session.until("a line", () => document.querySelector(".line .text") !== null);
  await session.click('[role="tab"]', "Doctor");
  await session.untilServer("it ended", () => !session.server.subscribed.has("/rosout"));
  await session.click('[role="tab"]', "Logs");
  await session.untilText(".remark", "the pane was hidden");
});

test("a parameter that is set arrives, and a refusal is reported", async (t) => {
  const layout = { tab: "parameters", parameters: { o: ["/camera"] } };
  const session = await Session.start(t, { layout });
  const { page, robot } = session;
  const row = (name) => `[data-name="/camera.${name}"]`;
  await session.untilText(`${row("exposure")} .description`, "Milliseconds per picture · 0 to 100");
  const field = await page.$(`${row("exposure")} input`);
  await session.write(field, "20.5");
  await field.press("Enter");
  await session.untilText(`${row("exposure")} .outcome`, "✓ set");
  assert.equal(robot.parameters.get("/camera.exposure").value, 20.5);
  await session.write(field, "200");
  await field.press("Enter");
  await session.untilText(`${row("exposure")} .outcome`, "✕ refused: the value is above 100; ");
  await session.untilText(`${row("exposure")} .outcome`, "; the value is 20.5");
  await session.untilText(".notices", "/camera.exposure is not set: the value is above 100");
  assert.equal(await field.evaluate((each) => each.value), "20.5");
  session.server.tell({ op: "status", level: 1, message: "/lidar does not answer" });
  await session.untilText(".notices", "/lidar does not answer");
  await session.write(field, "30.5");
  await field.press("Enter");
  await session.untilText(`${row("exposure")} .outcome`, "✓ set");
  const notices = await page.$$eval(".notice", (all) => all.map((each) => each.textContent));
  assert.deepEqual(notices, ["Warning: /lidar does not answer×"]);
  await session.write(field, "much");
  await field.press("Enter");
  await session.untilText(`${row("exposure")} .outcome`, "Enter a number.");
  await session.write(field, "40");
  assert.equal(await session.text(`${row("exposure")} .outcome`), "");
  await page.click(`${row("auto_white_balance")} input`);
  await session.untilText(`${row("auto_white_balance")} .outcome`, "✓ set");
  assert.equal(robot.parameters.get("/camera.auto_white_balance").value, false);
  assert.ok(await page.$eval(`${row("frame_id")} input`, (each) => each.disabled), "read only");
  const size = await page.$(`${row("size")} input`);
  await session.write(size, "[320, 240]");
  await size.press("Enter");
  await session.untilText(`${row("size")} .outcome`, "✓ set");
  assert.deepEqual(robot.parameters.get("/camera.size").value, [320, 240]);
});

test("a change by another client is shown, but not over unfinished text", async (t) => {
  const layout = { tab: "parameters", parameters: { o: ["/camera"] } };
  const session = await Session.start(t, { layout });
  const { page, server } = session;
  await session.untilText(".parameter .name", "exposure");
  const change = (value) =>
    server.tell({
      op: "parameterValues",
      parameters: [{ name: "/camera.exposure", value, type: "float64" }],
    });
  const shown = () => document.querySelector('[data-name="/camera.exposure"] input').value;
  change(33);
  await session.until(
    "it is shown",
    () => document.querySelector('[data-name="/camera.exposure"] input').value === "33",
  );
  const field = await page.$('[data-name="/camera.exposure"] input');
  await session.write(field, "44");
  change(55);
  change(56);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
  assert.equal(await page.evaluate(shown), "44");
  await field.press("Escape");
  assert.equal(await page.evaluate(shown), "56");
});

test("without --allow-changes nothing can be changed, and the page says so", async (t) => {
  const session = await Session.start(t, {
    layout: { tab: "parameters", parameters: { o: ["/camera"] } },
    allowsChanges: false,
  });
  await session.untilText(".warn", "--allow-changes");
  await session.until("fields are shut", () => {
    const inputs = [...document.querySelectorAll(".parameter input")];
    return inputs.length > 0 && inputs.every((each) => each.disabled);
  });
  await session.click('[role="tab"]', "Bags");
  await session.untilText("#pane-bags .hint", "--allow-changes");
  await session.untilText("#pane-bags .player h2", "/rosbag2_player");
  await session.untilText("#pane-bags .position", "of 60.0 s");
  await session.untilText("#pane-bags .recorder .state", "recording");
  const enabled = "#pane-bags :is(button, input, select):enabled";
  assert.deepEqual(await session.page.$$eval(enabled, (all) => all.map(String)), []);
  const buttons = await session.page.$$eval("#pane-bags .recorder button", (all) =>
    all.map((each) => each.textContent),
  );
  assert.deepEqual(buttons, ["Pause", "Split", "Snapshot", "Stop"]);
  await session.click('[role="tab"]', "Nodes");
  await session.click(".nodes .link", "/filter");
  await session.untilText("#pane-nodes .warn", "--allow-changes");
  await session.untilText(".lifecycle .state", "unconfigured");
  await session.until("no transition can be pressed", () => {
    const buttons = [...document.querySelectorAll(".lifecycle button")];
    return buttons.length > 0 && buttons.every((each) => each.disabled);
  });
  await session.click(".nodes .link", "/container");
  await session.untilText(".components-list", "/talker");
  assert.equal(await session.page.$(".load"), null);
});

test("nodes are shown with their distributions of ROS 2", async (t) => {
  const session = await Session.start(t, { layout: { tab: "nodes" } });
  const counted = "1 Jazzy or Kilted (Cyclone DDS 0.10.5), 1 unknown";
  await session.untilText(".nodes .distributions", counted);
  await session.untilText('.nodes tr[data-name="/base_driver"]', "Jazzy or Kilted");
  await session.untilText('.nodes tr[data-name="/camera"]', "Feros");
});

test("the nodes have what the doctor says of the distributions, with the cure", async (t) => {
  const session = await Session.start(t, { layout: { tab: "nodes" } });
  await session.untilText(".nodes .advice .ok", "9 participants of Feros");
  await session.untilText(".nodes .advice .warning", "Humble cannot read Feros");
  await session.untilText(".nodes .advice .cure", "Cure: export FEROS_ROS_DISTRO=humble");
  const cures = await session.page.$$eval(".nodes .advice .cure", (all) => all.length);
  assert.equal(cures, 1);
});

test("the page changes the state of a managed node", async (t) => {
  const session = await Session.start(t, { layout: { tab: "nodes" } });
  await session.click(".nodes .link", "/filter");
  await session.untilText(".lifecycle .state", "unconfigured");
  await session.click(".lifecycle button", "configure");
  await session.untilText(".lifecycle .state", "inactive");
  await session.click(".lifecycle button", "activate");
  await session.untilText(".lifecycle .outcome", "✓ activate");
  assert.equal(session.robot.lifecycle.label, "active");
  session.robot.lifecycle = { id: 2, label: "inactive" };
  session.server.publish("/filter/transition_event", {
    timestamp: 0n,
    transition: { id: 4, label: "deactivate" },
    start_state: { id: 3, label: "active" },
    goal_state: { id: 2, label: "inactive" },
  });
  await session.untilText(".lifecycle .state", "inactive");
});

test("components are loaded and unloaded", async (t) => {
  const session = await Session.start(t, { layout: { tab: "nodes", nodes: { n: "/container" } } });
  const { page, robot } = session;
  await session.untilText(".components-list", "/talker");
  await page.type('[name="package_name"]', "demo");
  await page.type('[name="plugin_name"]', "demo::Nothing");
  await session.click(".load button", "Load");
  await session.untilText(".components .outcome", "✕ no plugin demo::Nothing");
  await session.write(await page.$('[name="plugin_name"]'), "demo::Talker");
  await page.type('[name="node_name"]', "second");
  await page.type('[name="parameters"]', 'rate:=2.5 count:=-7 on:=true frame:="left arm"');
  await session.click(".load button", "Load");
  await session.untilText(".components-list", "/second");
  await session.click(".components-list button", "Unload /talker");
  await session.until(
    "it is gone",
    () => !document.querySelector(".components-list").textContent.includes("/talker"),
  );
  assert.deepEqual([...robot.components.values()], ["/second"]);
  const { request } = calls(session, "/container/_container/load_node").at(-1);
  const values = request.parameters.map(({ name, value }) => [
    name,
    [value.bool_value, value.integer_value, value.double_value, value.string_value][value.type - 1],
  ]);
  assert.deepEqual(values, [
    ["rate", 2.5],
    ["count", -7n],
    ["on", true],
    ["frame", "left arm"],
  ]);
  await page.type('[name="package_name"]', "demo");
  await page.type('[name="plugin_name"]', "demo::Talker");
  await page.type('[name="parameters"]', "rate=2");
  await session.click(".load button", "Load");
  await session.untilText(".components .outcome", "rate=2: write each parameter as name:=value");
});

test("a text that is entered before the browser reports that its pane is seen stays", async (t) => {
  const session = await Session.start(t, { layout: { nodes: { n: "/container" } } });
  const { page } = session;
  await page.evaluateOnNewDocument(() => {
    window.held = null;
    window.IntersectionObserver = class extends IntersectionObserver {
      constructor(act) {
        super((entries) =>
          window.held === null ? act(entries) : window.held.push([act, entries]),
        );
      }
    };
  });
  await page.reload();
  await session.untilText(".box .name", "/container");
  await page.evaluate(() => (window.held = []));
  await session.click('[role="tab"]', "Nodes");
  await session.untilText(".components-list", "/talker");
  await page.type('[name="package_name"]', "demo");
  await session.until("a report is held", () => window.held.length > 0);
  await page.evaluate(() => window.held.forEach(([act, entries]) => act(entries)));
  assert.equal(await page.$eval('[name="package_name"]', (each) => each.value), "demo");
});

test("a player is paused, stepped, accelerated and moved in its bag", async (t) => {
  const session = await Session.start(t, { layout: { tab: "bags" } });
  const { page, robot } = session;
  await session.untilText("#pane-bags .position", "of 60.0 s");
  await session.click("#pane-bags .player button", "Pause");
  await session.untilText("#pane-bags .player button", "Play");
  assert.ok(robot.bag.isPaused);
  await session.click("#pane-bags .player button", "Next message");
  await session.untilText("#pane-bags .player .outcome", "✓ play next");
  await page.select('#pane-bags select[aria-label="Speed"]', "2");
  await session.untilServer("the speed arrives", () => robot.bag.rate === 2);
  const slider = await session.find("#pane-bags input", "Position of /rosbag2_player");
  const box = await slider.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await session.untilServer("it seeks", () => calls(session, "/rosbag2_player/seek").length > 0);
  const half = Number(robot.bag.at - robot.bag.start) / 1e9;
  assert.ok(Math.abs(half - 30) < 1, `in the middle of the bag, not at ${half} s`);
});

test("a recorder is paused, split, and started with a new bag", async (t) => {
  const session = await Session.start(t, { layout: { tab: "bags" } });
  await session.untilText(".recorder .state", "recording");
  await session.click(".recorder button", "Pause");
  await session.untilText(".recorder .state", "paused");
  await session.click(".recorder button", "Split");
  await session.untilText(".recorder .outcome", "✓ split bagfile");
  const field = await session.find("input", "Folder of the new bag");
  await field.type("taken");
  await field.press("Enter");
  await session.untilText(".recorder .outcome", "✕ the folder exists");
  await session.write(field, "fresh");
  await field.press("Enter");
  await session.untilText(".recorder .outcome", "✓ recording into fresh");
});

test("a recorder that has stopped says so, also after a reload", async (t) => {
  const session = await Session.start(t, { layout: { tab: "bags" } });
  const { page, robot } = session;
  const isEach = (isDisabled) =>
    session.until(
      `each button is ${isDisabled ? "shut" : "open"}`,
      (wanted) => {
        const buttons = [...document.querySelectorAll('.recorder button[type="button"]')];
        return buttons.length === 3 && buttons.every((each) => each.disabled === wanted);
      },
      isDisabled,
    );
  await session.untilText(".recorder .state", "● recording");
  await session.click(".recorder button", "Stop");
  await session.untilText(".recorder .state", "■ stopped");
  await isEach(true);
  await page.reload();
  await session.untilText(".recorder .state", "■ stopped");
  await isEach(true);
  // A recorder that does not look for new topics records those that it has.
  robot.looksForTopics = false;
  const field = await session.find("input", "Folder of the new bag");
  await field.type("fresh");
  await field.press("Enter");
  await session.untilText(".recorder .state", "● recording");
  await isEach(false);
});

test("the doctor shows problems first, each with its cure", async (t) => {
  const session = await Session.start(t, { layout: { tab: "doctor" } });
  await session.untilText(".findings", "Cure: ip link set lo multicast on");
  const signs = await session.page.$$eval(".sign", (all) => all.map((each) => each.textContent));
  assert.deepEqual(signs, ["✕ error", "! warning", "✓ ok"]);
  session.robot.findings = [];
  await session.click("button", "Check again");
  await session.untilText("#pane-doctor", "error: 0, warning: 0, ok: 0");
});
