/** A traced run as the pictures need it: hops of packets, waits, lanes, the queue. */

import type { RunAnswer, Row, TableShape } from "./engine/door.ts";
import { type Hops, over } from "./hops.ts";
import { Story } from "./story.ts";

/** The columns of a table. */
class Table {
  readonly rows: number;

  constructor(private readonly shape: TableShape, private readonly numbers: Float64Array) {
    this.rows = shape.rows;
  }

  column(name: string): Float64Array {
    const { first } = this.shape.columns.find((column) => column.name === name) ?? { first: 0 };
    return this.numbers.subarray(first, first + this.rows);
  }

  names(name: string): (row: number) => string {
    const names = this.shape.columns.find((column) => column.name === name)?.names ?? [];
    const codes = this.column(name);
    return (row) => names[codes[row] ?? 0] ?? "";
  }
}

/** A server that waits for its timer. */
export interface Wait {
  readonly flow: number;
  readonly start: number;
  readonly end: number;
  readonly cause: string;
  readonly place: string;
  readonly rto: number;
}

/** A server's part of the block. */
export interface Lane {
  readonly flow: number;
  start: number;
  end: number;
}

/** Length of the queue, bytes: the largest within each bin. */
export interface Queue {
  readonly time: Float64Array;
  readonly width: Float64Array;
  readonly most: Float64Array;
  readonly packets: Float64Array;
  readonly rows: number;
}

export interface Block {
  readonly row: Row;
  readonly hops: Hops;
  readonly waits: readonly Wait[];
  readonly lanes: readonly Lane[];
  readonly queue: Queue;
  /** Index of the hops that are drops. */
  readonly drops: readonly number[];
  readonly end: number;
  readonly story: Story;
}

/** Reads the tables of a traced run. */
export function read(run: RunAnswer): Block | undefined {
  const table = (name: string): Table | undefined => {
    const shape = run.tables.find((it) => it.name === name);
    return shape && new Table(shape, run.numbers);
  };
  const [journeys, events, queues] = [table("journeys"), table("events"), table("queues")];
  const [row] = run.rows;
  if (!journeys || !events || !queues || !row) return undefined;
  const hops = readHops(journeys);
  const drops: number[] = [];
  let end = 0;
  for (let hop = 0; hop < hops.count; hop += 1) {
    if (!Number.isNaN(hops.dropped[hop])) drops.push(hop);
    end = Math.max(end, over(hops, hop));
  }
  const kind = events.names("kind");
  const time = events.column("time_s");
  for (let event = 0; event < events.rows; event += 1) {
    if (kind(event) !== "link_idle") end = Math.max(end, time[event] ?? 0);
  }
  const waits = readWaits(events, hops);
  return {
    row, hops, drops, waits, end,
    lanes: readLanes(events, end),
    queue: readQueue(queues),
    story: Story.of(hops, end),
  };
}

function readHops(table: Table): Hops {
  const of = (name: string): Float64Array => table.column(name);
  return {
    count: table.rows, flow: of("flow"), forward: of("forward"), place: of("place"), seq: of("seq"),
    ack: of("ack"), bytes: of("bytes"), again: of("again"), marked: of("marked"),
    offered: of("offered_s"), left: of("left_s"), arrived: of("arrived_s"), dropped: of("dropped_s"),
    kind: table.names("kind"),
  };
}

/** Waits end with a timeout, and begin with the last packet of the flow before it. */
function readWaits(events: Table, hops: Hops): Wait[] {
  const activity = new Map<number, number[]>();
  for (let hop = 0; hop < hops.count; hop += 1) {
    const flow = hops.flow[hop] ?? 0;
    const times = activity.get(flow) ?? [];
    if (times.length === 0) activity.set(flow, times);
    times.push(hops.offered[hop] ?? 0, over(hops, hop));
  }
  for (const times of activity.values()) times.sort((a, b) => a - b);
  const [kind, cause, place] = [events.names("kind"), events.names("cause"), events.names("place")];
  const [time, flow, rto] = [events.column("time_s"), events.column("flow"), events.column("rto_s")];
  const waits: Wait[] = [];
  for (let event = 0; event < events.rows; event += 1) {
    if (kind(event) !== "timeout") continue;
    const [end = 0, of = 0] = [time[event], flow[event]];
    const start = before(activity.get(of) ?? [], end);
    waits.push({ flow: of, start, end, cause: cause(event), place: place(event), rto: rto[event] ?? NaN });
  }
  return waits;
}

/** The last of ascending times before `at`. */
function before(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return times[low - 1] ?? at;
}

function readLanes(events: Table, end: number): Lane[] {
  const lanes = new Map<number, Lane>();
  const kind = events.names("kind");
  const [time, flow] = [events.column("time_s"), events.column("flow")];
  for (let event = 0; event < events.rows; event += 1) {
    const [of = -1, at = 0, what] = [flow[event], time[event], kind(event)];
    if (of < 0) continue;
    const lane = lanes.get(of);
    if (lane === undefined) lanes.set(of, { flow: of, start: at, end: what === "flow_done" ? at : end });
    else if (what === "flow_done") lane.end = at;
  }
  return [...lanes.values()].sort((a, b) => a.flow - b.flow);
}

/** The queue of the first port: the one towards the client. */
function readQueue(table: Table): Queue {
  const port = table.column("port");
  const of = port[0];
  let rows = table.rows;
  for (let row = 0; row < table.rows; row += 1) {
    if (port[row] !== of) {
      rows = row;
      break;
    }
  }
  const column = (name: string): Float64Array => table.column(name).subarray(0, rows);
  return {
    rows, time: column("time_s"), width: column("bin_s"),
    most: column("bytes_max"), packets: column("packets_max"),
  };
}
