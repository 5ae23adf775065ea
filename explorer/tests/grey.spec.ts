/** In grey: what colours tell apart, lightness, dashes, shapes and names tell apart, too. */

import { expect, type Page, test } from "@playwright/test";

import { after, frame, open, slide } from "./ready.ts";

/** Colours of different meanings that may meet in a picture, and by which ratio their lightness differs. */
const APART = [
  ["first", "second", 1.8],
  ["first", "paper", 3],
  ["second", "paper", 3],
  ["drop", "paper", 3],
  ["wait", "paper", 3],
  ["wait", "faint", 3],
  ["first", "faint", 3],
  ["second", "faint", 2],
] as const;

for (const scheme of ["light", "dark"] as const) {
  test(`colours differ in lightness: ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page);
    const names = [...new Set(APART.flatMap(([one, other]) => [one, other]))];
    const lightness = await page.evaluate((of) => of.map((name) => {
      const pen = document.createElement("canvas").getContext("2d")!;
      pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      pen.fillRect(0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }), names);
    for (const [one, other, least] of APART) {
      const ratio = contrast(lightness[names.indexOf(one)]!, lightness[names.indexOf(other)]!);
      expect(ratio, `--${one} and --${other}`).toBeGreaterThanOrEqual(least);
    }
  });

  test(`without any colour the curves of two settings are told apart: ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page);
    await after(page, () => page.locator("#compare").click());
    await after(page, () => slide(page, "rto", "1ms"));
    await inOneGrey(page, scheme);
    const [solid, dashed] = await covered(page);
    expect(solid, "A's line is solid").toBeGreaterThan(0.95);
    expect(dashed, "B's line is dashed").toBeGreaterThan(0.4);
    expect(dashed, "B's line is dashed").toBeLessThan(0.85);
    // The legend says which is which, and each picture of a block has the name of its setting.
    await expect(page.locator("#curve .key i")).toHaveText(["A", "B"]);
    for (const id of ["star", "lanes", "queue"]) await expect(page.locator(`#${id} .name:visible`)).toHaveText(["A", "B"]);
  });

  test(`without any colour waits are hatched: ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page);
    await inOneGrey(page, scheme);
    // A row of pixels through each lane, at a time at which only timers run.
    const lanes = await page.locator("#lanes [data-setting=A] canvas").evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement;
      const pen = (element as HTMLCanvasElement).getContext("2d")!;
      const lane = (height - 28) / 16;
      return Array.from({ length: 16 }, (_, flow) => {
        const row = pen.getImageData(width / 2, 6 + Math.floor(lane * (flow + 0.35)), 120, 1).data;
        return new Set(new Uint32Array(row.buffer)).size;
      });
    });
    const waiting = lanes.filter((shades) => shades > 1).length;
    const told = Number(/(\d+) timeouts/.exec(await page.locator("#summary").innerText())?.[1]);
    expect(waiting, "hatched lanes").toBe(told);
  });
}

/** Gives every colour that has a meaning the same grey. Colours are read again when the scheme changes. */
async function inOneGrey(page: Page, scheme: "light" | "dark"): Promise<void> {
  await page.evaluate(() => {
    for (const name of ["first", "second", "wait", "drop"]) {
      document.documentElement.style.setProperty(`--${name}`, "#777777");
    }
  });
  // Two changes within a frame would be none.
  await page.emulateMedia({ colorScheme: scheme === "light" ? "dark" : "light" });
  await frame(page);
  await page.emulateMedia({ colorScheme: scheme });
  await frame(page);
}

/** The share of the curves of A and B, between 56 and 64 servers, at which something is painted. */
function covered(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("#curve canvas")!;
    const [whole, over] = [canvas.getBoundingClientRect(), document.querySelector("#curve .u-over")!.getBoundingClientRect()];
    const goodputs = [...document.querySelectorAll<HTMLTableRowElement>("#numbers tbody tr")].slice(-2)
      .map((row) => [...row.cells].map((cell) => Number(cell.textContent)));
    const pen = canvas.getContext("2d")!;
    const isInk = (x: number, y: number): boolean => {
      const { data } = pen.getImageData(Math.round(x), Math.round(y) - 1, 1, 3);
      return [0, 1, 2].some((at) => Math.abs(data[at * 4]! - 0x77) < 24 && data[at * 4 + 3]! > 200);
    };
    return [1, 2].map((setting) => {
      let [seen, all] = [0, 0];
      for (let servers = 57; servers <= 63; servers += 0.05) {
        const share = (servers - 56) / 8;
        const goodput = goodputs[0]![setting]! * (1 - share) + goodputs[1]![setting]! * share;
        const x = over.left - whole.left + (servers / 66) * over.width;
        const y = over.top - whole.top + (1 - goodput / 1060) * over.height;
        all += 1;
        if (isInk(x, y)) seen += 1;
      }
      return seen / all;
    });
  });
}

/** The contrast of two colours (WCAG 2), which is that of their greys. */
function contrast(one: readonly number[], other: readonly number[]): number {
  const light = (rgb: readonly number[]): number => {
    const [r = 0, g = 0, b = 0] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const [a, b] = [light(one), light(other)];
  return Math.max(a, b) / Math.min(a, b);
}
