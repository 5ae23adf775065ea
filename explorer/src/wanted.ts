/** What the worker is asked for, for a setting. */

import type { Wanted } from "./engine/messages.ts";
import { get, type Scenario, SERVERS, servers, set, toJson } from "./scenario.ts";

/** The first points are a curve; the others make it finer. */
const COARSE = [1, 2, 4, 8, 16, 32, 48, 64];
const FINE = [3, 5, 6, 7, 10, 12, 14, 20, 24, 28, 40, 56];

/** Seeds of each point, unless the scenario says how many. */
const SEEDS = 5;
const MOST_SEEDS = 20;

export function wanted(scenario: Scenario, slot: number, block: boolean): Wanted {
  const count = servers(scenario);
  const more = count === undefined ? [] : [...COARSE, ...FINE, ...(points().includes(count) ? [] : [count])];
  const at = (number: number): string => toJson(set(scenario, SERVERS, BigInt(number)));
  return {
    slot,
    block,
    scenario: toJson(scenario),
    curve: more.map((number) => ({ servers: number, scenario: at(number) })),
    coarse: more.length === 0 ? 0 : COARSE.length,
    servers: count ?? 0,
    seeds: seeds(scenario),
  };
}

/** The numbers of servers of a curve. */
export function points(): number[] {
  return [...COARSE, ...FINE].sort((a, b) => a - b);
}

/** Seeds of each point. */
export function seeds(scenario: Scenario): number {
  const given = get(scenario, "run.seeds");
  return typeof given === "bigint" && given >= 1n ? Math.min(Number(given), MOST_SEEDS) : SEEDS;
}

/** The scenario with a sweep, which is what the page shows. */
export function withSweep(scenario: Scenario): Scenario {
  if (servers(scenario) === undefined) return scenario;
  const seeded = set(scenario, "run.seeds", BigInt(seeds(scenario)));
  return { ...seeded, sweep: { [SERVERS]: points().map(BigInt) } };
}
