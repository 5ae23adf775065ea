/** Chapters, keyboard, narrow windows, names for screen readers, and no request to another host. */

import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

import { after, done, open, slide, summary, text } from "./ready.ts";

const CHAPTERS = [
  { picture: "curve", title: "The barrier and the cliff", knob: ["sru", "16KiB"] },
  { picture: "star", title: "Why three duplicate ACKs do not come", knob: ["buffer", "32KiB"] },
  { picture: "curve", title: "The timer and its price", knob: ["rto", "200us"] },
  { picture: "queue", title: "The buffer's arithmetic", knob: ["buffer", "16KiB"] },
  { picture: "curve", title: "What remedies do, and where each ends", knob: ["servers", "60"] },
] as const;

for (const [number, { picture, title, knob }] of CHAPTERS.entries()) {
  test(`chapter ${number + 1}: text, one picture that reacts, a question`, async ({ page }) => {
    await open(page);
    await after(page, () => page.locator("#chapters a").nth(number + 1).click());
    await expect(page.locator("#chapter-title")).toContainText(title);
    await expect(page.locator("#chapter-title")).toBeFocused();
    await expect(page.locator("#question")).toContainText("?");
    await expect(page.locator("figure:visible")).toHaveCount(1);
    await expect(page.locator(`figure[data-picture=${picture}]`)).toBeVisible();
    const [before, told] = [await painted(page, picture), await summary(page)];
    await after(page, () => slide(page, knob[0], knob[1]));
    expect(await summary(page)).not.toBe(told);
    await expect.poll(() => painted(page, picture)).not.toBe(before);
    await expect(page.locator("#wrong")).toBeEmpty();
  });
}

test("a chapter has an address, and the way back works", async ({ page }) => {
  await open(page, "#chapter-3");
  await expect(page.locator("#chapter-title")).toContainText("timer");
  await after(page, () => page.getByRole("link", { name: "Explorer" }).click());
  await expect(page.locator("#chapter")).toBeHidden();
  await expect(page.locator("figure:visible")).toHaveCount(4);
});

test("keyboard only: sliders, lists, time, text", async ({ page }) => {
  await open(page);
  await page.keyboard.press("Tab");
  await expect(page.locator(".skip")).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.locator("#compare")).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.locator("#servers")).toBeFocused();
  await after(page, () => page.keyboard.press("ArrowRight"));
  expect(await text(page)).toContain("servers = 17");
  const reached = new Set<string>();
  for (let count = 0; count < 40; count += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement?.id ?? ""));
  }
  for (const id of ["sru", "buffer", "sharing", "rto", "rate", "rtt", "transport", "remedy", "jitter", "play",
    "back", "forward", "time", "speed", "cut", "toml", "open", "copy", "link", "reset"]) {
    expect(reached, id).toContain(id);
  }
  await page.locator("#play").focus();
  await page.keyboard.press("Enter");
  await expect(page.locator("#play")).toHaveText("Pause");
  await page.keyboard.press("Space");
  await expect(page.locator("#play")).toHaveText("Play");
});

for (const scheme of ["light", "dark"] as const) {
  for (const address of ["", "#chapter-1", "#chapter-2", "#chapter-4"]) {
    test(`axe finds nothing: ${scheme} ${address || "explorer"}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await open(page, address);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    });
  }
}

for (const width of [360, 1280, 2560]) {
  test(`a window of ${width} pixels needs no sideways scrolling`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await open(page);
    await after(page, () => page.locator("#compare").click());
    for (const address of ["", "#chapter-2", "#chapter-5"]) {
      if (address !== "") await page.goto(`./${address}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, address).toBeLessThanOrEqual(width);
    }
  });
}

test("the sliders stay beside the pictures, and cover nothing below them", async ({ page }) => {
  await open(page);
  const places = (): Promise<number[]> => page.evaluate(() => ["#controls", "#pictures", "#words"]
    .flatMap((id) => [document.querySelector(id)!.getBoundingClientRect().top, document.querySelector(id)!.getBoundingClientRect().bottom]));
  await page.evaluate(() => scrollTo(0, 500));
  const [top, bottom, , , words] = await places();
  expect(top, "in view").toBeGreaterThanOrEqual(0);
  expect(bottom).toBeLessThanOrEqual(words!);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  const [, end, , , below] = await places();
  expect(end, "above the words").toBeLessThanOrEqual(below!);
});

test("it asks no other host, and its policy would not let it", async ({ page, baseURL }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const response = await page.goto("./");
  await done(page);
  expect(asked.length).toBeGreaterThan(4);
  // The worker's code is a `blob:` of the page itself.
  expect(asked.filter((url) => !url.replace(/^blob:/, "").startsWith(baseURL!))).toEqual([]);
  expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
  const meta = page.locator("meta[http-equiv=Content-Security-Policy]");
  await expect(meta).toHaveAttribute("content", /default-src 'none'/);
  const refused = await page.evaluate(() => fetch("https://example.org/").then(() => "", (error) => String(error)));
  expect(refused).toContain("TypeError");
});

test("without a network it goes on", async ({ page, context }) => {
  await open(page);
  await context.setOffline(true);
  await after(page, () => slide(page, "servers", "8"));
  expect(await summary(page)).toMatch(/^8 servers/);
});

/** The pixels of a picture, in short. */
function painted(page: Page, picture: string): Promise<number> {
  return page.locator(`#${picture} canvas`).first().evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const { data } = (element as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height);
    return data.reduce((sum, value, place) => (sum * 31 + value * (place % 7)) % 1_000_003, 7);
  });
}
