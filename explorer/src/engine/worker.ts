/** The worker: the engine, and what it has to do, most urgent first. It looks for newer work after every run. */

import { Door, EngineError, type Row } from "./door.ts";
import type { Order, Report, Wanted } from "./messages.ts";

type Task = () => void;

let door: Door | undefined;
let tasks: Task[] = [];
let isWaiting = false;

/** A message to itself lets newer orders in between two runs, at no delay. */
const turn = new MessageChannel();
turn.port1.onmessage = () => {
  isWaiting = false;
  tasks.shift()?.();
  wait();
};

self.onmessage = ({ data }: MessageEvent<Order>) => {
  switch (data.kind) {
    case "open":
      door = new Door(data.module);
      break;
    case "work":
      tasks = plan(data.job, data.wanted);
      wait();
      break;
    case "ask":
      answer(data.id, data.question);
  }
};

function report(what: Report, transfer: Transferable[] = []): void {
  self.postMessage(what, { transfer });
}

function answer(id: number, question: string): void {
  try {
    report({ kind: "answer", id, answer: engine().ask(question) });
  } catch (error) {
    report({ kind: "answer", id, error: (error as Error).message });
  }
}

function engine(): Door {
  if (door === undefined) throw new Error("the engine is not open yet");
  return door;
}

/** Asks for a turn if there is something to do. */
function wait(): void {
  if (tasks.length === 0 || isWaiting) return;
  isWaiting = true;
  turn.port2.postMessage(null);
}

/** The tasks of a job: points of interest, coarse curves, blocks, then the rest. */
function plan(job: number, wanted: readonly Wanted[]): Task[] {
  const wrong = new Set<number>();
  const guarded = (slot: number, run: () => void): Task => () => {
    if (wrong.has(slot)) return;
    try {
      run();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      wrong.add(slot);
      report({ kind: "wrong", job, slot, line: error.message });
    }
  };
  const simulate = (of: Wanted, servers: number, scenario: string, seed: number): void => {
    const row = engine().run(scenario, seed).rows[0];
    if (row !== undefined) report({ kind: "point", job, point: { slot: of.slot, servers, seed, row } });
  };
  // A setting may be right, but not with any number of servers; of such a point only the first seed is tried.
  const gaps = new Set<string>();
  const tried = (of: Wanted, servers: number, scenario: string, seed: number): Task => () => {
    if (gaps.has(scenario) || wrong.has(of.slot)) return;
    try {
      simulate(of, servers, scenario, seed);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      gaps.add(scenario);
      report({ kind: "gap", job, servers, line: error.message });
    }
  };
  const curve = (of: Wanted, from: number, to: number, seed: number): Task[] =>
    of.curve.slice(from, to).map(({ servers, scenario }) => tried(of, servers, scenario, seed));
  const block = (of: Wanted): Task =>
    guarded(of.slot, () => {
      const run = engine().run(of.scenario, 1, ["queue", "cwnd", "events"], true);
      report({ kind: "block", job, slot: of.slot, run }, [run.numbers.buffer]);
    });
  const facts = (of: Wanted): Task =>
    guarded(of.slot, () => {
      const facts = engine().ask(`{"facts":${of.scenario}}`) as Row;
      report({ kind: "facts", job, slot: of.slot, facts });
    });
  const seeds = Array.from({ length: Math.max(0, ...wanted.map((of) => of.seeds)) }, (_, i) => i + 1);
  return [
    ...wanted.map((of) => guarded(of.slot, () => simulate(of, of.servers, of.scenario, 1))),
    ...wanted.map(facts),
    ...wanted.flatMap((of) => curve(of, 0, of.coarse, 1)),
    () => report({ kind: "coarse", job }),
    ...wanted.filter((of) => of.block).map(block),
    ...seeds.flatMap((seed) => [
      ...(seed === 1 ? [] : wanted.flatMap((of) => (seed <= of.seeds ? curve(of, 0, of.coarse, seed) : []))),
      ...wanted.flatMap((of) => (seed <= of.seeds ? curve(of, of.coarse, of.curve.length, seed) : [])),
    ]),
    () => report({ kind: "done", job }),
  ];
}
