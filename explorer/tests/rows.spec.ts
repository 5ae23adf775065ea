/** The engine in a browser and the command line have the same rows, byte for byte. */

import { execFileSync } from "node:child_process";

import { expect, test } from "@playwright/test";

import { open } from "./ready.ts";

type Row = Record<string, unknown>;

interface Case {
  readonly name: string;
  readonly document: object;
  readonly rows: readonly Row[];
}

/** What Python adds to the rows of the engine. */
const ADDED = ["lossless_goodput_bps", "collapsed"];

test("rows equal those of the command line", async ({ page }) => {
  test.setTimeout(120_000);
  const printed = execFileSync("../.venv/bin/python", ["tests/rows.py"], { maxBuffer: 1 << 26 });
  const cases = JSON.parse(printed.toString()) as Case[];
  expect(cases).toHaveLength(50);
  await open(page);
  for (const { name, document, rows } of cases) {
    const own = await page.evaluate(async (scenario) => {
      const engine = window.incast!;
      type Plan = { points: { scenario: object }[]; seeds: number[] };
      const plan = (await engine.ask({ plan: scenario })) as Plan;
      const runs: Row[] = [];
      for (const point of plan.points) {
        for (const seed of plan.seeds) {
          const run = (await engine.ask({ run: { scenario: point.scenario, seed } })) as { rows: Row[] };
          runs.push(...run.rows.filter(({ group }) => group === "all"));
        }
      }
      return runs;
    }, document);
    const theirs = rows.map((row) => Object.entries(row).filter(([column]) => !ADDED.includes(column)));
    expect(JSON.stringify(own), name).toBe(JSON.stringify(theirs.map(Object.fromEntries)));
  }
});
