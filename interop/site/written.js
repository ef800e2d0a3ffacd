// The pages that `klamm explain --site` writes, from the file system.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PHONE, fits, texts } from "./harness.js";

const MOST_BYTES = 200_000;
// A page of each kind, those with the most on them, and those with the longest names.
const KINDS = [
  "index.html",
  "apis/ElectLeaders.html",
  "apis/Fetch.html",
  "apis/StreamsGroupTopologyDescriptionUpdate.html",
  "records.html",
  "records/PartitionChangeRecord.html",
  "records/ConsumerGroupTargetAssignmentMetadataValue.html",
  "batches.html",
  "errors.html",
  "features.html",
];

const pagesOf = (folder) => files(folder).filter((path) => path.endsWith(".html"));

// What all pages look like.
export async function looked(harness, folder, isFull) {
  const pages = isFull ? pagesOf(folder) : KINDS;

  for (const colorScheme of ["light", "dark"]) {
    for (const path of pages) {
      await harness.check(`${path} is sound in ${colorScheme}`, async () => {
        const page = await harness.look(path, { colorScheme });
        if (colorScheme === "dark") {
          // Nothing but the colours differs, and those of the other views are those of the first.
          return harness.inspect(page, path, { only: ["cat.color"] });
        }
        await harness.inspect(page, path);
        for (const tab of (await page.locator("[role=tab]").all()).slice(1)) {
          await tab.click();
          const within = `#${await tab.getAttribute("aria-controls")}`;
          await harness.inspect(page, `${path}, ${await tab.textContent()}`, { within });
        }
      });
    }
  }

  for (const path of pages) {
    await harness.check(`${path} fits a phone`, async () => {
      const page = await harness.look(path, { viewport: PHONE, isMobile: true, hasTouch: true });
      await fits(page, path);
      for (const tab of await page.locator("[role=tab]").all()) {
        await tab.click();
        await fits(page, `${path}, ${await tab.textContent()}`);
      }
    });
  }
}

// What pages do.
export async function worked(harness, folder, isFull) {
  const all = pagesOf(folder);
  const pages = isFull ? all : KINDS;

  await harness.check("no page is heavy", () => {
    const assets = files(join(folder, "assets")).map((path) => size(join(folder, "assets", path)));
    const shared = assets.reduce((sum, bytes) => sum + bytes, 0);
    const weights = all.map((path) => [shared + size(join(folder, path)), path]);
    weights.sort(([a], [b]) => b - a);
    for (const [bytes, path] of weights.slice(0, 3)) {
      console.log(`  ${path}: ${bytes} bytes with all that it loads`);
    }
    for (const [bytes, path] of weights) assert.ok(bytes < MOST_BYTES, `${path}: ${bytes}`);
  });

  await harness.check("all links resolve", async () => {
    const page = await harness.page("index.html");
    const ids = new Map();
    const idsOf = (path) => {
      if (!ids.has(path)) {
        const html = readFileSync(path, "utf8");
        ids.set(path, new Set([...html.matchAll(/ id="([^"]*)"/g)].map((match) => match[1])));
      }
      return ids.get(path);
    };
    for (const path of pages) {
      await page.goto(harness.root + path);
      const links = await page.locator("a").evaluateAll((all) => all.map((link) => link.href));
      assert.ok(links.length > 0, path);
      for (const link of links) {
        const url = new URL(link);
        const anchor = decodeURIComponent(url.hash.slice(1));
        assert.ok(!anchor || idsOf(url.pathname).has(anchor), `${path}: ${link}`);
        assert.ok(statSync(url.pathname).isFile(), `${path}: ${link}`);
      }
    }
  });

  await harness.check("search finds ElectLeaders", async () => {
    const page = await harness.page("errors.html");
    await page.keyboard.press("/");
    for (const [text, first] of [
      ["electl", "ElectLeaders API 43"],
      ["43", "ElectLeaders API 43"],
      ["ELECTION_NOT", "ELECTION_NOT_NEEDED error 84"],
      ["ReplicaElectionResults", "ReplicaElectionResults in ElectLeaders response"],
      ["PartitionChange", "PartitionChangeRecord record"],
    ]) {
      await page.keyboard.press("Control+a");
      await page.keyboard.type(text);
      assert.equal((await texts(page, ".search li a"))[0], first, text);
    }
    await harness.inspect(page, "results");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("no such thing");
    assert.deepEqual(await texts(page, ".search li"), ["Nothing has that name."]);
    await page.keyboard.press("Escape");
    await page.keyboard.type("ElectLeaders");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/apis\/ElectLeaders\.html$/);
    assert.equal(await page.textContent("h1"), "ElectLeaders");
  });

  await harness.check("pointing at a byte marks its field, and the other way round", async () => {
    const page = await harness.page("apis/ElectLeaders.html");
    const message = page.locator(".msg").first();
    const byte = (at) => message.locator(".hex td").nth(at);
    await byte(18).hover();
    assert.match(await message.locator(".here").textContent(), /TopicPartitions › \[0\] › Partitions/);
    assert.match(await message.locator("tr.on").textContent(), /count/);
    assert.equal(await message.locator("tr.up").count(), 4);
    const field = message.locator("tr", { hasText: "TimeoutMs" });
    await field.hover();
    assert.deepEqual(await marked(message), [24, 25, 26, 27]);
    // A click stays when the mouse goes.
    await field.click();
    await page.mouse.move(1, 1);
    assert.deepEqual(await marked(message), [24, 25, 26, 27]);
  });

  await harness.check("the keyboard is enough", async () => {
    const page = await harness.page("apis/ElectLeaders.html");
    const message = page.locator(".msg").first();
    await message.locator(".hex td").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    assert.deepEqual(await marked(message), [17]);
    const said = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    assert.equal(said, 'byte 17: 01, body › TopicPartitions › [0] › Topic, ""');
    await page.keyboard.press("Enter");
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    assert.match(await focused(), /Topic string/);
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await marked(message), [16, 17, 18, 19, 20, 21, 22, 23].slice(1));
    await page.keyboard.press("ArrowLeft");
    assert.equal(await message.locator("tr[hidden]").count(), 5);
    await page.keyboard.press("ArrowRight");
    assert.equal(await message.locator("tr[hidden]").count(), 0);
    await page.keyboard.press("End");
    assert.deepEqual(await marked(message), [28]);
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "00");
    // Bytes, scrolling and fields are few stops.
    await message.locator(".hex td").last().focus();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "TR");
  });

  await harness.check("versions and views switch without another page", async () => {
    const page = await harness.page("apis/ElectLeaders.html");
    const loaded = [];
    page.on("request", (request) => {
      // Browsers look for the icon again when the address changes.
      if (!request.url().endsWith(".svg")) loaded.push(request.url());
    });
    const title = () => page.locator("#bytes h2").first().textContent();
    assert.match(await title(), /ElectLeadersRequest v2 29 bytes, header v2/);
    await page.locator(".versions label").first().click();
    await page.locator("text=ElectLeadersRequest v0").first().waitFor();
    assert.match(await title(), /32 bytes, header v1/);
    assert.match(page.url(), /#v0$/);
    await page.locator(".msg .hex td").nth(19).hover();
    assert.equal(await page.locator("tr.on").count(), 1);
    await page.locator("[role=tab]", { hasText: "Schema" }).click();
    assert.ok(!(await texts(page, "#schema b")).includes("ElectionType"));
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator("#changes").textContent(), /ElectionType: int8/);
    await page.locator(".versions input").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/#v1$/);
    assert.ok(await page.locator("#changes").isVisible());
    assert.deepEqual(loaded, []);
    const linked = await harness.page("apis/ElectLeaders.html#v1");
    await linked.locator("text=ElectLeadersRequest v1").first().waitFor();
  });

  await harness.check("the theme is the reader's to choose, and stays", async () => {
    const page = await harness.page("index.html", { colorScheme: "light" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator(".theme").click();
    const dark = await paper();
    assert.notEqual(dark, light);
    await page.reload();
    assert.equal(await paper(), dark);
  });

  await harness.check("without scripts a page can be read", async () => {
    const page = await harness.page("apis/ElectLeaders.html", { javaScriptEnabled: false });
    for (const text of ["ElectLeadersRequest v2", "Schema", "Version 1 to 2", "a script shows"]) {
      assert.ok(await page.locator(`text=${text}`).first().isVisible(), text);
    }
    assert.equal(await page.locator(".msg").first().locator(".hex td").count(), 29);
    assert.ok(!(await page.locator(".theme").isVisible()));
  });
}

function marked(message) {
  return message
    .locator(".hex td")
    .evaluateAll((cells) => cells.flatMap((cell, at) => (cell.matches(".on") ? [at] : [])));
}

function files(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();
}

const size = (path) => statSync(path).size;
