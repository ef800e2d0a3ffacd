// What `klamm explain --serve` shows of bytes that it is given.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fits, texts } from "./harness.js";

const REQUEST = "00 00 00 19 00 2b 00 02 00 00 00 07 00 00 00 00 02 01 02 00 00 00 00 00 00 00 00 00 00";

// Directories of partitions that a broker wrote.
const LOGS = new URL("../../crates/explain/tests/logs/", import.meta.url);

export async function served(harness, folder) {
  await harness.check("served pages are sound", async () => {
    for (const path of ["", "apis/ElectLeaders.html", "errors.html"]) {
      const page = await harness.page(path);
      await harness.inspect(page, path);
    }
  });

  for (const colorScheme of ["light", "dark"]) {
    await harness.check(`pasted digits are decoded, ${colorScheme}`, async () => {
      const page = await harness.page("decode.html", { colorScheme });
      await harness.inspect(page, "form");
      await decode(page, REQUEST);
      assert.match(await page.textContent("#result h2"), /ElectLeadersRequest v2, correlation id 7/);
      await page.locator("#result .hex td:not(.chars)").nth(24).hover();
      assert.match(await page.textContent("#result .here"), /TimeoutMs/);
      await harness.inspect(page, "decoded");
      await decode(page, Buffer.from(REQUEST.replaceAll(" ", ""), "hex").toString("base64"));
      assert.equal(await page.locator("#result h2").count(), 1);
      assert.match(await page.textContent("#result h2"), /ElectLeadersRequest/);
    });
  }

  await harness.check("a response is decoded as what it answers", async () => {
    const page = await harness.page("decode.html");
    await page.selectOption("[name=kind]", "response");
    await page.selectOption("[name=api]", { label: "ElectLeaders" });
    await page.fill("[name=version]", "2");
    await decode(page, "00000018000000000000000000000002010200000000000001000000");
    assert.match(await page.textContent("#result h2"), /ElectLeadersResponse v2/);
  });

  await harness.check("a file is decoded, dropped or chosen", async () => {
    const page = await harness.page("decode.html");
    const bytes = [...Buffer.from(REQUEST.replaceAll(" ", ""), "hex")];
    const drop = await page.evaluateHandle((bytes) => {
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array(bytes)], "<b>request</b>.bin"));
      return files;
    }, [...bytes, ...bytes]);
    await page.dispatchEvent("#decode", "drop", { dataTransfer: drop });
    await page.locator("#result h2").nth(1).waitFor();
    const titles = await texts(page, "#result h2");
    assert.match(titles[1], /^At byte 29: ElectLeadersRequest v2/);
    const path = join(folder, "capture.pcap");
    writeFileSync(path, capture(Buffer.from(bytes)));
    await page.setInputFiles("input[type=file]", path);
    await page.locator("#result h2", { hasText: "Connections" }).waitFor();
    const shown = await texts(page, "#result h2");
    assert.match(shown[1], /connection 1: ElectLeadersRequest v2/);
    await harness.inspect(page, "capture");
  });

  await harness.check("files of a log directory are decoded by what they are", async () => {
    const page = await harness.page("decode.html");
    for (const [path, said] of [
      ["__cluster_metadata-0/00000000000000000000.log", /like those of __cluster_metadata.*TopicRecord/s],
      ["__cluster_metadata-0/00000000000000000089.snapshot", /ProducerSnapshot/],
      ["__cluster_metadata-0/quorum-state", /leaderId/],
      ["orders-1/00000000000000000000.timeindex", /Largest time.*1 entry/s],
      ["orders-1/00000000000000000000.txnindex", /Producer id.*1 entry/s],
    ]) {
      const answer = page.waitForResponse(/decode\.html\?/);
      await page.setInputFiles("input[type=file]", fileURLToPath(new URL(path, LOGS)));
      await (await answer).finished();
      await page.locator("#result:not([aria-busy])").waitFor();
      assert.match(await page.textContent("#result"), said, path);
      if (!path.endsWith(".log")) await harness.inspect(page, path);
    }
    await page.selectOption("[name=topic]", "other");
    const answer = page.waitForResponse(/decode\.html\?.*topic=other/);
    const log = new URL("__cluster_metadata-0/00000000000000000000.log", LOGS);
    await page.setInputFiles("input[type=file]", fileURLToPath(log));
    await (await answer).finished();
    await page.locator("#result:not([aria-busy])").waitFor();
    assert.doesNotMatch(await page.textContent("#result"), /TopicRecord/);
  });

  await harness.check("hostile input is an error on the page", async () => {
    const page = await harness.page("decode.html");
    const hostile = '<img src=x onerror="document.title=1">';
    const name = Buffer.from(hostile).toString("hex");
    const length = hostile.length;
    const head = `0012000300000007${hex(length, 4)}${name}00${hex(length + 1, 2)}${name}0100`;
    await decode(page, hex(head.length / 2, 8) + head);
    assert.match(await page.textContent("#result"), /onerror/);
    for (const [text, said] of [
      [hostile, /is not hexadecimal, nor base64/],
      ["7fffffff002b0002", /stopped/],
      ["ffffffff", /size -1 is negative/],
      ["00000000".repeat(2000), /messages more/],
      ["", /There are no bytes/],
    ]) {
      await decode(page, text);
      assert.match(await page.textContent("#result"), said, text.slice(0, 40));
      await fits(page, text.slice(0, 40));
    }
    assert.equal(await page.locator("#result img").count(), 0);
    assert.doesNotMatch(await page.title(), /^1$/);
    await harness.inspect(page, "an error");
  });

  await harness.check("secrets are shown only to who asks for them", async () => {
    const page = await harness.page("decode.html");
    const sasl = "0000001400240000000000070000" + "00000006" + Buffer.from("secret").toString("hex");
    await decode(page, sasl);
    assert.doesNotMatch(await page.textContent("#result"), /secret/);
    await page.check("[name=secrets]");
    await decode(page, sasl);
    assert.match(await page.textContent("#result"), /"secret"/);
  });

  await harness.check("without scripts a form is enough", async () => {
    const page = await harness.page("decode.html", { javaScriptEnabled: false });
    await page.fill("textarea", REQUEST);
    await page.click("button[type=submit]");
    assert.match(await page.textContent("#result h2"), /ElectLeadersRequest v2/);
  });
}

async function decode(page, text) {
  await page.fill("textarea", text);
  const answer = page.waitForResponse(/decode\.html\?/);
  await page.click("button[type=submit]");
  await (await answer).finished();
  await page.locator("#result:not([aria-busy])").waitFor();
}

const hex = (number, digits) => number.toString(16).padStart(digits, "0");

// A capture of one connection: what opens it, and one segment with `payload`.
function capture(payload) {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(65535, 16);
  header.writeUInt32LE(101, 20); // Packets begin with their IP header.
  const packets = [
    packet(1, 0x02, Buffer.alloc(0), false),
    packet(100, 0x12, Buffer.alloc(0), true),
    packet(2, 0x18, payload, false),
  ];
  return Buffer.concat([header, ...packets]);
}

function packet(sequence, flags, payload, isAnswer) {
  const ip = Buffer.alloc(20);
  ip[0] = 0x45;
  ip.writeUInt16BE(40 + payload.length, 2);
  ip[8] = 64;
  ip[9] = 6;
  ip.set([127, 0, 0, 1], 12);
  ip.set([127, 0, 0, 1], 16);
  const tcp = Buffer.alloc(20);
  tcp.writeUInt16BE(isAnswer ? 9092 : 40000, 0);
  tcp.writeUInt16BE(isAnswer ? 40000 : 9092, 2);
  tcp.writeUInt32BE(sequence, 4);
  tcp.writeUInt32BE(isAnswer ? 2 : flags === 2 ? 0 : 101, 8);
  tcp[12] = 0x50;
  tcp[13] = flags;
  tcp.writeUInt16BE(65535, 14);
  const content = Buffer.concat([ip, tcp, payload]);
  const record = Buffer.alloc(16);
  record.writeUInt32LE(1_800_000_000, 0);
  record.writeUInt32LE(content.length, 8);
  record.writeUInt32LE(content.length, 12);
  return Buffer.concat([record, content]);
}
