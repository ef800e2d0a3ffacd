// Runs checks in a row, each with pages of its own that watch for errors and for requests to
// elsewhere.

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
  }

  static async open() {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox"],
    });
    return new Harness(browser);
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

  // A page of the site at `root`. Whatever goes wrong in it fails the check.
  async page(path, options = {}) {
    const context = await this.browser.newContext({ viewport: WIDE, ...options });
    this.contexts.push(context);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.trouble.push(message.text());
    });
    page.on("pageerror", (error) => this.trouble.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.root) && !url.startsWith("data:")) this.trouble.push(url);
    });
    page.on("requestfailed", (request) => this.trouble.push(`failed: ${request.url()}`));
    await page.goto(this.root + path);
    return page;
  }

  // No violation that axe finds, and nothing to scroll sideways.
  async inspect(page, where) {
    const result = await page.evaluate(`${axe}; axe.run(document, { preload: false, resultTypes: ["violations"] })`);
    const violations = result.violations.map(
      ({ id, nodes }) => `${where}: ${id}: ${nodes[0].html} ${nodes[0].failureSummary}`,
    );
    assert.deepEqual(violations, []);
    await fits(page, where);
  }

  async close() {
    await this.browser.close();
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
