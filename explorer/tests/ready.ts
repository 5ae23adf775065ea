/** Opens the page and waits for the engine. */

import type { Page } from "@playwright/test";

/** Opens an address of the page, and waits until everything has been simulated. */
export async function open(page: Page, address = ""): Promise<void> {
  await page.goto(`./${address}`);
  await done(page);
}

/** Waits until the last job is done, and a newer one than `job`, and until the page shows that. */
export async function done(page: Page, job = 0): Promise<void> {
  await page.waitForFunction((before) => {
    const { jobs, isDone } = window.incast?.progress ?? { jobs: 0, isDone: false };
    return isDone && jobs > before;
  }, job);
  await frame(page);
}

/** Waits until what is to be drawn is drawn. */
export function frame(page: Page): Promise<void> {
  return page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn()))));
}

/** Does something that begins a job, and waits until the last one is done. */
export async function after(page: Page, act: () => Promise<unknown>): Promise<void> {
  const jobs = await page.evaluate(() => {
    performance.clearMarks();
    return window.incast?.progress.jobs ?? 0;
  });
  await act();
  await done(page, jobs);
}

/** The scenario that the page shows. */
export function text(page: Page): Promise<string> {
  return page.locator("#toml").inputValue();
}

export function summary(page: Page): Promise<string> {
  return page.locator("#summary").innerText();
}

/** Moves a slider to a value by its text. */
export async function slide(page: Page, id: string, value: string): Promise<void> {
  const slider = page.locator(`#${id}`);
  const last = Number(await slider.getAttribute("max"));
  for (let place = 0; place <= last; place += 1) {
    await slider.fill(String(place));
    if ((await slider.getAttribute("aria-valuetext")) === value) return;
  }
  throw new Error(`#${id} has no ${value}`);
}
