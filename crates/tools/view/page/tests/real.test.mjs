// The page on the real server: FEROS_COMMAND names the command `feros`; without it the test is
// skipped. The page comes from dist/, whichever page the command contains.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ENVIRONMENT, openPage, Programs } from "./programs.mjs";
import { WATCHDOG_MS } from "./session.mjs";

const FEROS = process.env.FEROS_COMMAND;
const IMAGE =
  "{header: {frame_id: base}, height: 2, width: 2, encoding: rgb8, step: 6, " +
  "data: [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7]}";

/** Waits for the second file of a bag: the first one is then complete. */
async function recorded(file) {
  const end = Date.now() + WATCHDOG_MS;
  while (!existsSync(file)) {
    if (Date.now() > end) throw new Error(`never came: ${file}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test(
  "the real server shows a system and changes it",
  { skip: !FEROS && "no FEROS_COMMAND" },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "feros-view-"));
    const commands = new Programs(FEROS);
    t.after(async () => {
      await commands.end();
      await rm(folder, { recursive: true });
    });
    commands.publish("/image", "sensor_msgs/msg/Image", IMAGE);
    commands.publish("/imu", "sensor_msgs/msg/Imu", "{linear_acceleration: {x: 1.5}}");
    commands.publish("/cmd", "geometry_msgs/msg/Twist", "{}", "--qos-reliability", "best_effort");
    commands.start("topic", "echo", "/cmd", "--qos-reliability", "reliable").stdout.resume();
    commands.start("container").stdout.resume();
    commands.start("bag", "record", "-o", join(folder, "bag"), "/imu").stdout.resume();
    const address = await commands.view("--allow-changes");
    const layout = {
      messages: {
        p: [
          { k: "image", t: "/image" },
          { k: "tree", t: "/imu" },
        ],
      },
    };
    const session = await openPage(t, address, layout);
    const { page } = session;

    await session.untilText(".edge text", "shared memory");
    await session.untilText(".edge text", "✕ mismatch");
    await session.untilText(".details .mismatch", "Cure:");
    await session.until("it is measured", () =>
      /^\d+\.\d+ Hz/.test(document.querySelector('[data-id="topic /imu"] .words').textContent),
    );

    await session.click('[role="tab"]', "Messages");
    await session.untilText(".tree", "linear_acceleration");
    await session.untilText(".image p", "2×2 rgb8");
    const pixels = await page.$eval(".image canvas", (each) => [
      ...each.getContext("2d").getImageData(0, 0, 2, 2).data,
    ]);
    assert.deepEqual(pixels, [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 9, 8, 7, 255]);

    await session.click('[role="tab"]', "Parameters");
    const row = '[data-name="/ComponentManager.use_sim_time"]';
    await session.click("summary", "/ComponentManager");
    await session.untilText(".description", "Start the ~/get_type_description service");
    await page.click(`${row} input`);
    await session.untilText(`${row} .outcome`, "✓ set");
    const { stdout } = await promisify(execFile)(
      FEROS,
      ["param", "get", "/ComponentManager", "use_sim_time"],
      { env: ENVIRONMENT },
    );
    assert.match(stdout, /true/i);

    await session.click('[role="tab"]', "Nodes");
    await session.click(".nodes .link", "/ComponentManager");
    await session.untilText(".components-list", "No component is loaded.");

    await session.click('[role="tab"]', "Bags");
    await session.untilText(".recorder .state", "recording");
    await session.click(".recorder button", "Pause");
    await session.untilText(".recorder .state", "paused");
    await session.click(".recorder button", "Stop");
    await session.untilText(".recorder .state", "stopped");

    await session.click('[role="tab"]', "Doctor");
    await session.untilText(".findings", "ok");
    assert.deepEqual(session.errors, []);
  },
);

test(
  "texts of all letters reach a real node and come back",
  { skip: !FEROS && "no FEROS_COMMAND" },
  async (t) => {
    const commands = new Programs(FEROS);
    t.after(() => commands.end());
    const texts = ["Grüße", "温度", "🤖", "e\u0301"];
    const all = texts.join(" ");
    commands.publish("/text", "std_msgs/msg/String", `{data: "${all}"}`);
    commands.publish("/wide", "test_msgs/msg/WStrings", `{wstring_value: "${all}"}`);
    commands.start("container").stdout.resume();
    const address = await commands.view("--allow-changes");
    const panels = ["/text", "/wide"].map((topic) => ({ k: "tree", t: topic }));
    const layout = {
      tab: "messages",
      messages: { p: panels },
      nodes: { n: "/ComponentManager" },
    };
    const session = await openPage(t, address, layout);
    const { page } = session;
    const leaf = (name) => `[aria-label="Tree ${name}"] .leaf`;
    await session.untilText(leaf("/text"), `data"${all}"`);
    await session.untilText(leaf("/wide"), `wstring_value"${all}"`);
    await session.untilText(leaf("/wide"), 'wstring_value_default3"ハローワールド"');

    await session.click('[role="tab"]', "Nodes");
    await session.untilText(".components-list", "No component is loaded.");
    for (const text of [...texts, all]) {
      await session.write(await page.$('[name="package_name"]'), text);
      await session.write(await page.$('[name="plugin_name"]'), text);
      await session.click(".load button", "Load");
      // The answer has the path at which the container searched for the package.
      await session.untilText(".components .outcome", `feros_components/${text} under`);
    }
    assert.deepEqual(session.errors, []);
  },
);

test("the slider seeks in a real bag", { skip: !FEROS && "no FEROS_COMMAND" }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "feros-view-"));
  const commands = new Programs(FEROS);
  t.after(async () => {
    await commands.end();
    await rm(folder, { recursive: true });
  });
  const bag = join(folder, "bag");
  commands.publish("/imu", "sensor_msgs/msg/Imu", "{linear_acceleration: {x: 1.5}}");
  const recording = ["bag", "record", "-o", bag, "--max-bag-duration", "4", "/imu"];
  commands.start(...recording).stdout.resume();
  await recorded(join(bag, "bag_1.mcap"));
  await commands.end();
  commands.start("bag", "play", bag, "--loop", "--clock").stdout.resume();
  const address = await commands.view("--allow-changes");
  const session = await openPage(t, address, { tab: "bags" });
  const { page } = session;
  await session.untilText(".player .position", "of");
  const position = () => page.$eval(".player .position", (each) => each.textContent);
  const first = await position();
  await session.until(
    "it plays",
    (old) => document.querySelector(".player .position").textContent !== old,
    first,
  );
  await session.click(".player button", "Pause");
  await session.untilText(".player button", "Play");
  await session.click(".player button", "Next message");
  await session.untilText(".player .outcome", "✓ play next");
  await session.until(
    "the slider can be moved",
    () => !document.querySelector(".player input[type=range]").disabled,
  );
  await page.$eval(".player input[type=range]", (each) => {
    each.value = "0";
    each.dispatchEvent(new Event("input"));
    each.dispatchEvent(new Event("change"));
  });
  await session.untilText(".player .outcome", "✓ seek");
  const words = await page.$eval(".player", (each) => each.textContent);
  assert.doesNotMatch(words, /so far/, "the slider covers the whole bag");
  await session.click(".player button", "Play");
  await session.untilText(".player .outcome", "✓ resume");
  assert.deepEqual(session.errors, []);
});
