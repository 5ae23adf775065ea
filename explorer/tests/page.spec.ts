/** Every control of the page does what it says. */

import { expect, type Page, test } from "@playwright/test";

import { after, done, frame, open, slide, summary, text } from "./ready.ts";

test.beforeEach(({ page }) => {
  page.on("pageerror", (error) => expect(error.message, "no error in the page").toBe(""));
});

test("it shows a curve, a block, and what happened in it", async ({ page }) => {
  await open(page);
  expect(await summary(page)).toMatch(/^16 servers: [\d.]+ Mbit\/s, a block takes .*timeouts? \(/);
  await page.locator("#numbers summary").click();
  await expect(page.locator("#numbers tbody tr")).toHaveCount(20);
  await page.locator("#waits summary").click();
  expect(await page.locator("#waits tbody tr").count()).toBeGreaterThan(0);
  for (const id of ["curve", "star", "lanes", "queue"]) {
    expect(await isPainted(page, `#${id} canvas`), id).toBe(true);
  }
});

const SLIDERS = [
  ["servers", "40", "servers = 40"],
  ["sru", "128KiB", 'sru = "128KiB"'],
  ["buffer", "256KiB", 'buffer = "256KiB"'],
  ["rto", "1ms", 'rto_min = "1ms"'],
  ["rate", "10Gbps", 'rate = "10Gbps"'],
  ["rtt", "400us", 'delay = "100us"'],
  ["jitter", "500us", 'request_jitter = "500us"'],
] as const;

test("every slider moves its key, and the result", async ({ page }) => {
  await open(page);
  const before = await summary(page);
  for (const [id, value, line] of SLIDERS) {
    await after(page, () => slide(page, id, value));
    await expect.poll(() => text(page)).toContain(line);
    await expect.poll(() => summary(page), id).not.toBe(before);
    await after(page, () => page.locator("#reset").click());
    await expect.poll(() => summary(page)).toBe(before);
  }
});

test("lists choose transport, remedy and a shared buffer", async ({ page }) => {
  await open(page);
  const before = await summary(page);
  for (const [id, value, line] of [
    ["transport", "dctcp", 'name = "dctcp"'],
    ["remedy", "plato", 'remedies = [ "plato" ]'],
    ["sharing", "1", "alpha = 1"],
  ] as const) {
    await after(page, () => page.locator(`#${id}`).selectOption(value));
    await expect.poll(() => text(page)).toContain(line);
    expect(await page.locator("#wrong").innerText()).toBe("");
    await expect.poll(() => summary(page), id).not.toBe(before);
    await after(page, () => page.locator("#reset").click());
    await expect.poll(() => summary(page)).toBe(before);
  }
});

test("a moved slider cancels what is under way", async ({ page }) => {
  // Counts what all workers of the page report.
  await page.addInitScript(() => {
    const kinds: string[] = [];
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        this.addEventListener("message", ({ data }: MessageEvent<{ kind: string }>) => kinds.push(data.kind));
      }
    };
    Object.assign(window, { kinds });
  });
  await open(page);
  const count = (): Promise<{ points: number; ends: number }> => page.evaluate(() => {
    const since = (window as unknown as { kinds: string[] }).kinds.splice(0);
    const of = (kind: string): number => since.filter((it) => it === kind).length;
    return { points: of("point"), ends: of("done") };
  });
  const { points, ends } = await count();
  expect(ends).toBe(1);
  // In one turn of the page, so that no job can end before the next one begins.
  await after(page, () => page.evaluate(() => {
    const slider = document.querySelector<HTMLInputElement>("#servers")!;
    for (let place = 0; place < 64; place += 1) {
      slider.value = String(place);
      slider.dispatchEvent(new Event("input"));
    }
  }));
  expect(await summary(page)).toMatch(/^64 servers/);
  const all = await count();
  expect(all.points, "of 64 jobs, the points of two at most").toBeLessThan(2 * points);
  expect(all.ends).toBe(1);
});

test("time: play, pause, steps, slider, cut, and a click in a picture", async ({ page }) => {
  await open(page);
  const now = (): Promise<string> => page.locator("#now").innerText();
  const first = await now();
  expect(first).toMatch(/^0\.0+ ms$/);
  await page.locator("#speed").selectOption("0.1");
  await page.locator("#play").click();
  await expect.poll(now).not.toBe(first);
  await page.locator("#play").click();
  const stopped = await now();
  await frame(page);
  expect(await now()).toBe(stopped);
  await page.locator("#forward").click();
  const stepped = await now();
  expect(stepped).not.toBe(stopped);
  await page.locator("#back").click();
  expect(await now()).not.toBe(stepped);
  await page.locator("#time").fill("700");
  await expect(page.locator("#star [data-setting=A] canvas")).toHaveAttribute("aria-label", /servers wait for a timer/);
  const waiting = await now();
  await page.locator("#cut").check();
  await page.locator("#lanes canvas").first().click({ position: { x: 300, y: 30 } });
  expect(await now()).not.toBe(waiting);
});

test("hovering names the cause and the packet", async ({ page }) => {
  await open(page);
  const lanes = page.locator("#lanes [data-setting=A]");
  const box = (await lanes.boundingBox())!;
  const told: string[] = [];
  for (let y = 8; y < box.height - 24; y += 4) {
    await lanes.locator("canvas").hover({ position: { x: box.width / 2, y } });
    const tip = lanes.locator(".tip");
    if (await tip.isVisible()) told.push(await tip.innerText());
  }
  expect(told.join("\n")).toMatch(/Server \d+ waits .* for a timer of .*: it lost one of its last packets/);
  await page.locator("#time").fill("150");
  const star = page.locator("#star [data-setting=A]");
  const queue = (await star.boundingBox())!;
  const names = new Set<string>();
  for (let x = 10; x < queue.width; x += 12) {
    await star.locator("canvas").hover({ position: { x, y: queue.height / 2 } });
    if (await star.locator(".tip").isVisible()) names.add(await star.locator(".tip").innerText());
  }
  expect([...names].join("\n")).toMatch(/Server \d+ → client: data from byte \d+/);
});

test("two settings side by side", async ({ page }) => {
  await open(page);
  await after(page, () => page.locator("#compare").click());
  await after(page, () => slide(page, "rto", "1ms"));
  expect(await summary(page)).toMatch(/A, 16 servers: .*\nB, 16 servers: /);
  await expect(page.locator("#star .picture:visible")).toHaveCount(2);
  await after(page, () => page.getByRole("radio", { name: "A" }).check());
  expect(await text(page)).toContain('rto_min = "200ms"');
  await after(page, () => page.locator("#compare").click());
  await expect(page.locator("#star .picture:visible")).toHaveCount(1);
});

test("a click on the curve chooses the number of servers", async ({ page }) => {
  await open(page);
  await after(page, () => page.locator("#curve .u-over").click({ position: { x: 500, y: 60 } }));
  expect(await text(page)).not.toContain("servers = 16\n");
});

test("the link holds the whole state", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await after(page, () => page.locator("#compare").click());
  await after(page, () => slide(page, "buffer", "128KiB"));
  await page.locator("#time").fill("400");
  await page.locator("#cut").check();
  const [shown, now] = [await text(page), await page.locator("#now").innerText()];
  await page.locator("#link").click();
  await expect(page.locator("#copied")).toContainText("clipboard");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await other.goto(link);
  await done(other);
  expect(await text(other)).toBe(shown);
  expect(await other.locator("#now").innerText()).toBe(now);
  await expect(other.locator("#cut")).toBeChecked();
  await expect(other.getByRole("radio", { name: "B" })).toBeChecked();
  expect(await summary(other)).toBe(await summary(page));
  await other.goto("./#s=broken");
  await other.reload();
  await expect(other.locator("#note")).toContainText("link: is incomplete");
});

test("a pasted scenario opens; a wrong one is an error of the engine", async ({ page }) => {
  await open(page);
  const paste = async (toml: string): Promise<void> => {
    await page.locator("#toml").fill(toml);
    await page.locator("#open").click();
  };
  await after(page, () => paste('workload = { servers = 5, sru = "64KiB" }\n[sweep]\n"network.buffer" = ["32KiB", "1MiB"]'));
  expect(await summary(page)).toMatch(/^5 servers/);
  await expect(page.locator("#note")).toContainText("network.buffer");
  await paste("[workload]\nsevers = 5");
  await expect(page.locator("#wrong")).toContainText('workload.severs: unknown key; did you mean "servers"?');
  await paste('[network]\nrate = "fast"');
  await expect(page.locator("#wrong")).toContainText("network.rate: ");
  await paste("servers = = 5");
  await expect(page.locator("#wrong")).toContainText("line 1, column 11: not valid TOML: extra `=`");
  await after(page, () => page.locator("#reset").click());
  await expect(page.locator("#wrong")).toBeEmpty();
});

test("sweeps over lists, and curves that are not whole, or not there", async ({ page }) => {
  await open(page);
  const paste = (toml: string): Promise<void> => after(page, async () => {
    await page.locator("#toml").fill(toml);
    await page.locator("#open").click();
  });
  const background = '[[background]]\nname = "cbr"\nrate = "1Mbps"\n';
  await paste(`workload = { servers = 8, sru = "64KiB" }\n${background}[sweep]\n"background.0.rate" = ["300Mbps"]`);
  await expect(page.locator("#wrong")).toBeEmpty();
  expect(await text(page)).toMatch(/\[\[background\]\]\nname = "cbr"\nrate = "300Mbps"/);
  await expect(page.locator("#gaps")).toBeEmpty();
  await paste('workload = { servers = 8, sru = "64KiB", active = 4 }');
  await expect(page.locator("#wrong")).toBeEmpty();
  await expect(page.locator("#gaps")).toHaveText(/^No point at 1, 2, 3 servers: workload\.active: 4 is out of range/);
  await page.locator("#numbers summary").click();
  await expect(page.locator("#numbers tbody tr")).toHaveCount(17);
  await paste('[[workload]]\nservers = 2\nsru = "64KiB"\n[[workload]]\nservers = 3\nsru = "64KiB"');
  await expect(page.locator("#gaps")).toHaveText(/^No curve/);
  await expect(page.locator("#wrong")).toBeEmpty();
});

test("a network of several switches has no star, but everything else", async ({ page }) => {
  await open(page);
  const toml = 'workload = { servers = 8, sru = "64KiB" }\nnetwork.topology = "two-tier"';
  await page.locator("#toml").fill(toml);
  await after(page, () => page.locator("#open").click());
  await expect(page.locator("#wrong")).toBeEmpty();
  expect(await summary(page)).toMatch(/^8 servers/);
  expect(await isPainted(page, "#lanes canvas")).toBe(true);
});

test("the text runs on the command line, and is copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await page.locator("#copy").click();
  await expect(page.locator("#copied")).toContainText("clipboard");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await text(page));
});

/** Whether a picture has more than one colour. */
function isPainted(page: Page, selector: string): Promise<boolean> {
  return page.locator(selector).first().evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const { data } = (element as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height);
    return new Set(new Uint32Array(data.buffer)).size > 4;
  });
}
