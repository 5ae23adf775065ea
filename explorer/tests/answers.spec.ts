/** The questions at the ends of the chapters have the answers that the texts prepare. */

import { expect, type Page, test } from "@playwright/test";

import { after, open, slide, summary } from "./ready.ts";

/** Half of the line rate, Mbit/s. */
const HALF = 500;

test("1: a smaller SRU moves the cliff", async ({ page }) => {
  await open(page, "#chapter-1");
  const cliffs = [await cliff(page)];
  for (const sru of ["8KiB", "4KiB"]) {
    await after(page, () => slide(page, "sru", sru));
    cliffs.push(await cliff(page));
  }
  expect(cliffs).toEqual([16, 20, 48]);
});

test("2: with 32 servers whole windows are lost, with 16 duplicate ACKs are missing", async ({ page }) => {
  await open(page, "#chapter-2");
  expect(await summary(page)).toMatch(/[1-9]\d* fast retransmits?, \d+ timeouts \(\d+ for a whole window/);
  const whole = Number(/(\d+) for a whole window/.exec(await summary(page))?.[1]);
  expect(whole).toBeGreaterThan(Number(/(\d+) for lack/.exec(await summary(page))?.[1] ?? 0));
  await after(page, () => slide(page, "servers", "16"));
  expect(await summary(page)).toMatch(/[1-9]\d* fast retransmits?, \d+ timeouts \(\d+ for lack of duplicate ACKs\)/);
});

test("3: 10 ms are short enough for 48 servers, and 200 µs too short for 64", async ({ page }) => {
  await open(page, "#chapter-3");
  await after(page, () => slide(page, "servers", "64"));
  const at = async (rto: string, servers: number): Promise<number> => {
    await after(page, () => slide(page, "rto", rto));
    return (await goodputs(page, 2)).get(servers) ?? NaN;
  };
  expect(await at("20ms", 48)).toBeLessThan(HALF);
  expect(await at("10ms", 48)).toBeGreaterThan(HALF);
  const best = await at("2ms", 64);
  expect(await at("200us", 64)).toBeLessThan(best / 2);
  expect(await summary(page)).toMatch(/B, 64 servers: .*[1-9]\d* spurious/);
});

test("4: a shared buffer needs 128 KiB with α = 1, and 64 KiB with α = 8", async ({ page }) => {
  await open(page, "#chapter-4");
  const timeouts = async (alpha: string, size: string): Promise<number> => {
    await after(page, () => page.locator("#sharing").selectOption(alpha));
    await after(page, async () => {
      await slide(page, "buffer", "8KiB");
      await slide(page, "buffer", size);
    });
    return Number(/(\d+) timeouts?/.exec(await summary(page))?.[1]);
  };
  const limit = page.locator("#queue [data-setting=A] canvas");
  expect(await timeouts("1", "96KiB")).toBeGreaterThan(0);
  expect(await timeouts("1", "128KiB")).toBe(0);
  await expect(limit).toHaveAttribute("aria-label", /of 64 KiB/);
  expect(await timeouts("8", "48KiB")).toBeGreaterThan(0);
  expect(await timeouts("8", "64KiB")).toBe(0);
  await expect(limit).toHaveAttribute("aria-label", /of 56\.9 KiB/);
});

test("5: of dctcp, plato and ocs one keeps the line rate, and none with a small buffer", async ({ page }) => {
  await open(page, "#chapter-5");
  const keeps = async (transport: string, buffer: string): Promise<boolean> => {
    await after(page, () => page.locator("#transport").selectOption(transport));
    await after(page, async () => {
      await slide(page, "buffer", "8KiB");
      await slide(page, "buffer", buffer);
    });
    return [...await goodputs(page, 2)].every(([servers, goodput]) => servers < 4 || goodput >= HALF);
  };
  for (const [transport, answers] of [["dctcp", [false, false]], ["plato", [false, false]], ["ocs", [true, false]]] as const) {
    expect([await keeps(transport, "64KiB"), await keeps(transport, "16KiB")], transport).toEqual(answers);
  }
  expect(await keeps("dctcp", "256KiB")).toBe(true);
});

/** The means of a curve by number of servers, Mbit/s: in the column of a setting, from 1. */
async function goodputs(page: Page, setting: number): Promise<Map<number, number>> {
  const rows = await page.locator("#numbers tbody tr").evaluateAll((lines) =>
    lines.map((line) => [...(line as HTMLTableRowElement).cells].map((cell) => Number(cell.textContent))));
  return new Map(rows.map((row) => [row[0] ?? NaN, row[setting] ?? NaN]));
}

/** The least number of servers such that goodput is below half of the line rate there and beyond. */
async function cliff(page: Page): Promise<number> {
  const curve = [...await goodputs(page, 1)];
  return curve[curve.findLastIndex(([, goodput]) => goodput >= HALF) + 1]?.[0] ?? NaN;
}
