/** Opens the page and waits for the engine. */

import { expect, type Page } from "@playwright/test";

/** Opens an address of the page, and waits until everything has been simulated. */
export async function open(page: Page, address = ""): Promise<void> {
  await page.goto(`./${address}`);
  await done(page, 1);
}

/** Waits until so many jobs are done since the page was loaded. */
export async function done(page: Page, jobs: number): Promise<void> {
  const count = (): number => performance.getEntriesByName("incast-done").length;
  await expect.poll(() => page.evaluate(count), { timeout: 15_000 }).toBeGreaterThanOrEqual(jobs);
}

/** Does something that begins a job, and waits until it is done. */
export async function after(page: Page, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate(() => performance.clearMarks());
  await act();
  await done(page, 1);
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
