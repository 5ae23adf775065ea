/** The page's side of its one worker. */

import { EngineError, type Row, type RunAnswer } from "./door.ts";
import EngineWorker from "./worker.ts?worker&inline";
import type { Order, Point, Report, Wanted } from "./messages.ts";

/** What becomes of a job. */
export interface Listener {
  onFacts(slot: number, facts: Row): void;
  onPoint(point: Point): void;
  onBlock(slot: number, run: RunAnswer): void;
  onWrong(slot: number, line: string): void;
  /** The curve has no point there, though the setting is right. */
  onGap(servers: number, line: string): void;
  onCoarse(): void;
  onDone(): void;
}

/** A worker that is in a run for longer than this when newer work comes is replaced. */
const PATIENCE_MS = 300;

export class Engine {
  private worker: Worker;
  private job = 0;
  private finished = 0;
  private lastReport = 0;
  private listener: Listener | undefined;
  private readonly asked = new Map<number, { order: Order; settle: (report: Answer) => void }>();
  private questions = 0;
  private watch: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly module: WebAssembly.Module) {
    this.worker = this.start();
  }

  /** Begins a job; the one under way, if any, reports no more. */
  work(wanted: readonly Wanted[], listener: Listener): void {
    this.job += 1;
    this.listener = listener;
    const order: Order = { kind: "work", job: this.job, wanted };
    const { job } = this;
    this.worker.postMessage(order);
    clearTimeout(this.watch);
    const asked = performance.now();
    this.watch = setTimeout(() => {
      if (this.job === job && this.lastReport < asked) this.replace(order);
    }, PATIENCE_MS);
  }

  /** The number of jobs begun, and whether the last of them is done. */
  get progress(): { readonly jobs: number; readonly isDone: boolean } {
    return { jobs: this.job, isDone: this.job > 0 && this.finished === this.job };
  }

  /** Asks the engine something; an `EngineError` has its line. */
  ask(question: object | string): Promise<unknown> {
    this.questions += 1;
    const id = this.questions;
    const order: Order = { kind: "ask", id, question: JSON.stringify(question) };
    return new Promise((resolve, reject) => {
      const settle = ({ answer, error }: Answer): void =>
        error === undefined ? resolve(answer) : reject(new EngineError(error));
      this.asked.set(id, { order, settle });
      this.worker.postMessage(order);
    });
  }

  private start(): Worker {
    // Its code is in the page, so that a new one needs no network.
    const worker = new EngineWorker({ name: "engine" });
    worker.onmessage = ({ data }: MessageEvent<Report>) => this.hear(data);
    worker.postMessage({ kind: "open", module: this.module } satisfies Order);
    return worker;
  }

  /** Ends a worker that an old job keeps busy, and gives the new work to a new one. */
  private replace(order: Order): void {
    this.worker.terminate();
    this.worker = this.start();
    for (const asked of this.asked.values()) this.worker.postMessage(asked.order);
    this.worker.postMessage(order);
  }

  private hear(report: Report): void {
    if (report.kind === "answer") {
      this.asked.get(report.id)?.settle(report);
      this.asked.delete(report.id);
      return;
    }
    if (report.job !== this.job || this.listener === undefined) return;
    this.lastReport = performance.now();
    switch (report.kind) {
      case "facts":
        return this.listener.onFacts(report.slot, report.facts);
      case "point":
        return this.listener.onPoint(report.point);
      case "block":
        return this.listener.onBlock(report.slot, report.run);
      case "wrong":
        return this.listener.onWrong(report.slot, report.line);
      case "gap":
        return this.listener.onGap(report.servers, report.line);
      case "coarse":
        return this.listener.onCoarse();
      case "done":
        this.listener.onDone();
        this.finished = report.job;
    }
  }
}

interface Answer {
  readonly answer?: unknown;
  readonly error?: string;
}
