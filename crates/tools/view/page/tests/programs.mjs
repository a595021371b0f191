// The page on the real server, with real programs.

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { hashOf, Session } from "./session.mjs";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { "": "text/html", "app.js": "text/javascript", "app.css": "text/css" };
/** The environment variables that separate this system from others. */
export const ENVIRONMENT = {
  ...process.env,
  ROS_DOMAIN_ID: String(120 + (process.pid % 100)),
  ROS_AUTOMATIC_DISCOVERY_RANGE: "LOCALHOST",
};

/** Programs that run while the test does, and are ended one after the other. */
export class Programs {
  running = [];

  /** `feros` is the command. */
  constructor(feros) {
    this.feros = feros;
  }

  run(program, words, environment = {}) {
    const env = { ...ENVIRONMENT, ...environment };
    const child = spawn(program, words, { env, stdio: ["ignore", "pipe", "ignore"] });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    this.running.push({ child, ended });
    return child;
  }

  start(...words) {
    return this.run(this.feros, words);
  }

  publish(topic, type, values, ...rest) {
    this.start("topic", "pub", "-r", "10", topic, type, values, ...rest).stdout.resume();
  }

  async view(...words) {
    const child = this.start("view", "--port", "0", "--no-open", ...words);
    let text = "";
    for await (const part of child.stdout) {
      text += part;
      const address = text.match(/http:\S+/)?.[0];
      if (address !== undefined) {
        child.stdout.resume();
        return address;
      }
    }
    throw new Error(`feros view ended: ${text}`);
  }

  async end() {
    for (const { child, ended } of this.running.reverse()) {
      child.kill("SIGINT");
      await ended;
    }
    this.running = [];
  }
}

/** Opens the page of dist/, at the address of the real server, which answers its WebSocket. */
export async function openPage(t, address, layout, options = {}) {
  const session = await Session.start(t, { isStill: true, ...options });
  const { page } = session;
  await page.setRequestInterception(true);
  page.on("request", async (request) => {
    const name = new URL(request.url()).pathname.slice(1);
    if (!request.url().startsWith(address) || TYPES[name] === undefined) return request.continue();
    const body = await readFile(DIST + (name || "index.html"));
    return request.respond({ contentType: TYPES[name], body });
  });
  await page.goto(address + hashOf(layout));
  return session;
}
