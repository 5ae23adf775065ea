/** What is wrong with a text is the same line in the page and on the command line. */

import { execFileSync } from "node:child_process";

import { expect, test } from "@playwright/test";

import { open } from "./ready.ts";

interface Fault {
  readonly name: string;
  readonly text: string;
  readonly line: string;
}

test("faults of a text have the line of the command line", async ({ page }) => {
  const printed = execFileSync("../.venv/bin/python", ["tests/faults.py"]);
  const faults = JSON.parse(printed.toString()) as Fault[];
  expect(faults.length).toBeGreaterThan(30);
  await open(page);
  for (const { name, text, line } of faults) {
    expect(line, name).toMatch(/^\S.*: /);
    await page.locator("#toml").fill(text);
    await page.locator("#open").click();
    await expect(page.locator("#wrong"), name).toHaveText(line);
    await expect(page.locator("#wrong-text"), name).toHaveText(line);
    await page.locator("#reset").click();
    await expect(page.locator("#wrong"), name).toBeEmpty();
  }
});

test("the caret is put where a text is not TOML", async ({ page }) => {
  await open(page);
  await page.locator("#toml").fill("[network]\nrate = 1Gbps\n");
  await page.locator("#open").click();
  await expect(page.locator("#toml")).toBeFocused();
  const at = await page.locator("#toml").evaluate((area: HTMLTextAreaElement) => area.selectionStart);
  expect(at).toBe("[network]\nrate = ".length);
});
