/**
 * How large and how fast the page is. Prints a line per figure, and fails where one is over its limit.
 *
 * The limits are those of a processor four times slower. Chromium can slow down the page's thread so,
 * but not its worker. What both do together is therefore measured at full speed, and counted four
 * times. Other work on the machine counts, too: measure on an idle one.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { expect, type Page, test } from "@playwright/test";

import { after, done } from "../tests/ready.ts";

const SLOWER = 4;
const BUILT = "../python/incast/explorer";

function print(what: string, value: number, unit: string, limit: number): void {
  const verdict = value <= limit ? "" : "   OVER";
  console.log(`${what.padEnd(58)} ${value.toFixed(1).padStart(8)} ${unit} (limit ${limit})${verdict}`);
  expect.soft(value, what).toBeLessThanOrEqual(limit);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.ceil(share * sorted.length) - 1, sorted.length - 1)] ?? NaN;
}

test("transferred", () => {
  const files = readdirSync(BUILT, { recursive: true, encoding: "utf-8" })
    .map((name) => join(BUILT, name))
    .filter((name) => statSync(name).isFile());
  const sizes = files.map((name) => gzipSync(readFileSync(name), { level: 9 }).length);
  print("all files, gzipped", sizes.reduce((sum, size) => sum + size, 0) / 1e3, "kB", 1000);
});

test("first curve", async ({ page }) => {
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    await page.goto("./");
    await done(page);
    times.push(await mark(page, "incast-coarse"));
    await session.detach();
  }
  print(`first curve after load, page ${SLOWER} x slower, median`, percentile(times, 0.5), "ms", 1500);
});

test("from slider to points", async ({ page }) => {
  await page.goto("./");
  await done(page);
  const [points, curves]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 40; turn += 1) {
    const [id, value] = [["buffer", "sru", "servers", "rto"][turn % 4] ?? "", String(3 + (turn % 5))];
    await after(page, () =>
      page.evaluate(([slider, to]) => {
        const input = document.querySelector<HTMLInputElement>(`#${slider}`)!;
        input.value = input.value === to ? String(Number(to) + 1) : to!;
        performance.mark("moved");
        input.dispatchEvent(new Event("input"));
      }, [id, value]));
    const moved = await mark(page, "moved");
    points.push((await mark(page, "incast-point")) - moved);
    curves.push((await mark(page, "incast-coarse")) - moved);
  }
  const slower = (times: readonly number[], share: number): number => SLOWER * percentile(times, share);
  print(`slider to first point, x ${SLOWER}, median of 40`, slower(points, 0.5), "ms", 60);
  print(`slider to first point, x ${SLOWER}, p95 of 40`, slower(points, 0.95), "ms", 60);
  print(`slider to a curve of eight points, x ${SLOWER}, p95 of 40`, slower(curves, 0.95), "ms", 400);
});

for (const [name, servers] of [["16 servers", "15"], ["64 servers", "63"]] as const) {
  test(`frames while packets move, ${name}`, async ({ page }) => {
    await page.goto("./");
    await done(page);
    await after(page, () => page.locator("#servers").fill(servers));
    await page.evaluate(() => {
      const frames: number[] = [];
      Object.assign(window, { frames });
      new PerformanceObserver((list) => list.getEntriesByName("incast-frame").forEach((it) => frames.push(it.duration)))
        .observe({ type: "measure" });
    });
    await page.locator("#play").click();
    await page.waitForTimeout(5000);
    const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames);
    expect(frames.length).toBeGreaterThan(50);
    print(`script and drawing of a frame, ${name}, p95`, percentile(frames, 0.95), "ms", 8);
  });
}

/** The time of the first mark of a name. */
function mark(page: Page, name: string): Promise<number> {
  return page.evaluate((of) => performance.getEntriesByName(of)[0]?.startTime ?? NaN, name);
}
