// Runs checks in a row, each with pages of its own that watch for errors and for requests to
// elsewhere. Rows of checks may run side by side, each in a lane.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const WIDE = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

export class Harness {
  constructor(browser, root) {
    this.browser = browser;
    this.root = root;
    this.passed = 0;
    this.failed = 0;
    this.lanes = [];
    this.trouble = [];
    this.contexts = [];
    this.kept = new Map();
  }

  static async launch() {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox"],
    });
    return new Harness(browser);
  }

  // A row of checks of pages at `root`, which may run beside others.
  lane(root) {
    const lane = new Harness(this.browser, root);
    this.lanes.push(lane);
    return lane;
  }

  // `node drive.js WORD` runs those with the word in their name only.
  async check(name, run) {
    if (process.argv[2] && !name.includes(process.argv[2])) return;
    const start = Date.now();
    this.trouble = [];
    this.contexts = [];
    try {
      await run();
      assert.deepEqual(this.trouble, []);
      this.passed += 1;
    } catch (error) {
      this.failed += 1;
      console.log(`  FAILED ${name}\n${error.stack}\n${this.trouble.join("\n")}`);
    }
    for (const context of this.contexts) await context.close();
    console.log(`  ${name}: ${Date.now() - start} ms`);
  }

  // A page of the site at `root`, in a browser that knows nothing of others. Whatever goes wrong in it
  // fails the check.
  async page(path, options = {}) {
    const page = await this.open(options);
    this.contexts.push(page.context());
    await page.goto(this.root + path);
    return page;
  }

  // As `page`, in the window of the check before with the same options: for those that only look.
  async look(path, options = {}) {
    const key = JSON.stringify(options);
    if (!this.kept.has(key)) this.kept.set(key, await this.open(options));
    const page = this.kept.get(key);
    await page.goto(this.root + path);
    return page;
  }

  async open(options) {
    const context = await this.browser.newContext({ viewport: WIDE, ...options });
    const page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.trouble.push(message.text());
    });
    page.on("pageerror", (error) => this.trouble.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.root) && !url.startsWith("data:")) this.trouble.push(url);
    });
    page.on("requestfailed", (request) => {
      // What was still loading when the check left the page is not missing.
      const why = request.failure().errorText;
      if (why !== "net::ERR_ABORTED") this.trouble.push(`${why}: ${request.url()}`);
    });
    return page;
  }

  // No violation that axe finds in what a selector finds, by all of its rules or by `only` some, and
  // nothing to scroll sideways.
  async inspect(page, where, { within = "html", only } = {}) {
    const options = { preload: false, resultTypes: ["violations"] };
    if (only) options.runOnly = only;
    const call = `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`;
    const result = await page.evaluate(`window.axe || (() => { ${axe} })(); ${call}`);
    const violations = result.violations.map(
      ({ id, nodes }) => `${where}: ${id}: ${nodes[0].html} ${nodes[0].failureSummary}`,
    );
    assert.deepEqual(violations, []);
    await fits(page, where);
  }

  async close() {
    await this.browser.close();
    for (const { passed, failed } of this.lanes) {
      this.passed += passed;
      this.failed += failed;
    }
    if (process.argv[2]) console.log(`  only those with ${process.argv[2]} in their names`);
    console.log(`site: ${this.passed} passed, ${this.failed} failed`);
    process.exitCode = this.failed || !this.passed ? 1 : 0;
  }
}

export async function fits(page, where) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(content <= window, `${where}: ${content} pixels wide in a window of ${window}`);
}

// The texts of all elements that a selector finds.
export const texts = (page, selector) => page.locator(selector).allTextContents();
