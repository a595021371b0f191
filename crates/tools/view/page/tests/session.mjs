// A mock server, a browser and a page for one test; all three end with the test.

import assert from "node:assert/strict";
import { after } from "node:test";
import puppeteer from "puppeteer-core";
import { Robot } from "./mock/robot.mjs";
import { MockServer } from "./mock/server.mjs";

const BROWSER = process.env.FEROS_CHROMIUM ?? "/usr/bin/chromium";
/** Only a watchdog: a test fails because of what it finds, and not because it is slow. */
export const WATCHDOG_MS = 60_000;

export const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844, isMobile: true, hasTouch: true },
};

export function hashOf(layout) {
  return `#v1.${Buffer.from(JSON.stringify(layout)).toString("base64url")}`;
}

export function layoutOf(address) {
  const text = new URL(address).hash.slice("#v1.".length);
  return JSON.parse(Buffer.from(text, "base64url").toString());
}

/** A text for error messages: characters that are not seen are escaped. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
}

let browser = null;

/** One browser for all tests of a file: its start takes more processor time than most tests. */
async function startBrowser() {
  browser ??= puppeteer.launch({
    executablePath: BROWSER,
    headless: true,
    args: [
      "--no-sandbox",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--js-flags=--expose-gc",
      "--force-color-profile=srgb",
      // Only WebGL needs the renderer of 3D graphics, which here is a slow one in software.
      "--disable-gpu-compositing",
      "--disable-gpu-rasterization",
      // If a test shows another page than the server's own, it counts as a page from another site.
      // The other feature makes each start load pages for windows that nobody opens.
      "--disable-features=LocalNetworkAccessChecks,PreloadTopChromeWebUI",
    ],
  });
  return browser;
}

after(async () => (await browser)?.close());

export class Session {
  errors = [];

  static async start(test, options = {}) {
    const session = new Session();
    await session.begin(test, options);
    return session;
  }

  async begin(
    test,
    {
      layout = {},
      size = SIZES.desktop,
      theme = "light",
      robot = new Robot(),
      allowsChanges = true,
      speed = 1,
      isStill = false,
    },
  ) {
    this.robot = robot;
    this.server = new MockServer(robot);
    this.server.allowsChanges = allowsChanges;
    this.address = await this.server.listen();
    if (!isStill) robot.start(this.server, speed);
    const chromium = await startBrowser();
    this.context = await chromium.createBrowserContext();
    this.page = await this.context.newPage();
    test.after(() => this.end());
    this.page.setDefaultTimeout(WATCHDOG_MS);
    this.page.on("pageerror", (error) => this.errors.push(error.message));
    this.page.on("console", (message) => {
      if (message.type() === "error") this.errors.push(message.text());
    });
    await this.page.setViewport(size);
    await this.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    await this.page.goto(this.address + hashOf(layout));
  }

  async end() {
    await this.context.close();
    await this.server.close();
  }

  /** Waits for a state of the page. */
  async until(words, check, ...values) {
    try {
      return await this.page.waitForFunction(check, { polling: 50 }, ...values);
    } catch (error) {
      throw new Error(`${words}: ${error.message}; errors of the page: ${this.errors.join("; ")}`);
    }
  }

  /** Waits for a state of the elements of a selector; an error has the texts of the elements. */
  async untilElements(words, check, selector, ...values) {
    try {
      return await this.until(words, check, selector, ...values);
    } catch (error) {
      const texts = await this.page.$$eval(selector, (all) =>
        all.slice(0, 12).map((each) => each.textContent.slice(0, 500)),
      );
      const there = texts.length === 0 ? "no such element" : visible(JSON.stringify(texts));
      throw new Error(`${error.message}; instead, there was: ${there}`);
    }
  }

  /** Waits for a state of the server; an error has the topics that the page subscribes to. */
  async untilServer(words, check) {
    const end = Date.now() + WATCHDOG_MS;
    while (!check()) {
      if (Date.now() > end) {
        const topics = visible(JSON.stringify([...this.server.subscribed.keys()]));
        throw new Error(`never came: ${words}; the page subscribes to ${topics}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  async untilText(selector, text) {
    await this.untilElements(
      `${selector} says ${visible(text)}`,
      (s, t) => [...document.querySelectorAll(s)].some((each) => each.textContent.includes(t)),
      selector,
      text,
    );
  }

  /** The first visible element of a selector whose text or label has these words. */
  async find(selector, words) {
    const handle = await this.untilElements(
      `${selector} with ${visible(words)}`,
      (s, w) =>
        [...document.querySelectorAll(s)].find(
          (each) =>
            each.checkVisibility() &&
            (each.textContent.includes(w) || (each.getAttribute("aria-label") ?? "").includes(w)),
        ),
      selector,
      words,
    );
    return handle.asElement();
  }

  /** Presses an element, and presses again if the page has replaced the element meanwhile. */
  async click(selector, words) {
    for (let left = 4; ; left--) {
      const element = await this.find(selector, words);
      try {
        await element.evaluate((each) => each.scrollIntoView({ block: "center" }));
        return await element.click();
      } catch (error) {
        if (left === 0 || !/detached|not clickable|not an Element/.test(error.message)) throw error;
      }
    }
  }

  async text(selector) {
    return this.page.$eval(selector, (each) => each.textContent);
  }

  /** Types a text until the field has only that text. Keys work even if rows move. */
  async write(field, text) {
    await field.focus();
    await field.evaluate((each) => each.select());
    await field.press("Backspace");
    await field.type(text);
    assert.equal(await field.evaluate((each) => each.value), text);
  }
}
