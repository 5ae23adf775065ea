/** The star: servers, the switch with its queue, the client, and packets that move between them. */

import type { Block } from "../block.ts";
import { over } from "../hops.ts";
import type { Row } from "../engine/door.ts";
import { bytes, CAUSES, seconds } from "../units.ts";
import { Canvas } from "./canvas.ts";

interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Where everything stands, for a size and a number of servers. */
interface Layout {
  readonly servers: readonly Spot[];
  readonly radius: number;
  readonly entry: Spot;
  readonly exit: Spot;
  readonly client: Spot;
  readonly queue: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  readonly cells: number;
}

/** A buffer of more packets has several in a cell. */
const MOST_CELLS = 96;

export class Star {
  private readonly canvas: Canvas;
  private block: Block | undefined;
  private facts: Row = {};
  private layout: Layout | undefined;
  private told = 0;

  constructor(place: HTMLElement, private readonly colour: "first" | "second") {
    this.canvas = new Canvas(place, "The star and its queue", () => {
      this.layout = undefined;
      this.draw();
    });
  }

  show(block: Block, facts: Row): void {
    this.block = block;
    this.facts = facts;
    this.layout = undefined;
    this.draw();
  }

  /** Moves everything to a time of the block's story. */
  at(told: number): void {
    this.told = told;
    this.draw();
  }

  /** Puts what is to be seen into words. */
  label(): void {
    this.canvas.element.setAttribute("aria-label", this.describe());
  }

  private describe(): string {
    const { block } = this;
    if (block === undefined) return "No block yet";
    const time = block.story.time(this.told);
    let [waiting, moving] = [0, 0];
    for (const hop of block.story.near(this.told)) {
      if ((block.hops.offered[hop] ?? 0) > time || over(block.hops, hop) < time) continue;
      if (this.isQueued(hop, time)) waiting += 1;
      else moving += 1;
    }
    const timers = block.waits.filter(({ start, end }) => start < time && time <= end).length;
    return (
      `At ${seconds(time)}: ${waiting} packets in the queue, ${moving} on links or in hosts, ` +
      `${timers} servers wait for a timer`
    );
  }

  private draw(): void {
    const { canvas, block } = this;
    canvas.clear();
    if (block === undefined || canvas.width === 0) return;
    if (Number(this.facts["trunks"] ?? 0) > 0) {
      canvas.pen.fillStyle = canvas.colours.soft;
      canvas.text("Only networks with one switch are drawn here; see the other pictures.", 8, 20);
      return;
    }
    const layout = (this.layout ??= this.lay(block));
    const time = block.story.time(this.told);
    this.drawPlaces(layout);
    this.drawWaits(layout, block, time);
    this.drawPackets(layout, block, time);
    canvas.point();
  }

  private lay(block: Block): Layout {
    const { width, height } = this.canvas;
    const count = Math.max(...block.lanes.map(({ flow }) => flow + 1), 1);
    const columns = Math.ceil(count / Math.max(Math.floor((height - 24) / 13), 1));
    const rows = Math.ceil(count / columns);
    const pitch = (height - 24) / rows;
    const radius = Math.min(Math.max(pitch * 0.36, 2.5), 9);
    const servers = Array.from({ length: count }, (_, flow) => ({
      x: 14 + radius + Math.floor(flow / rows) * Math.max(radius * 2.4, 10),
      y: 20 + pitch * ((flow % rows) + 0.5),
    }));
    const cells = Math.max(Math.min(Number(this.facts["buffer_packets"] ?? 1), MOST_CELLS), 1);
    const last = servers.at(-1)?.x ?? 0;
    const room = width - last - 24;
    const box = { x: last + room * 0.42, y: height / 2 - 14, width: room * 0.34, height: 28 };
    return {
      servers, radius, cells, queue: box,
      entry: { x: box.x, y: height / 2 },
      exit: { x: box.x + box.width, y: height / 2 },
      client: { x: width - 24, y: height / 2 },
    };
  }

  private drawPlaces({ servers, radius, queue, entry, exit, client, cells }: Layout): void {
    const { canvas } = this;
    const { pen, colours } = canvas;
    pen.strokeStyle = colours.faint;
    for (const { x, y } of servers) canvas.line(x, y, entry.x, entry.y);
    canvas.line(exit.x, exit.y, client.x, client.y);
    pen.fillStyle = colours.paper;
    pen.strokeStyle = colours.soft;
    pen.beginPath();
    pen.rect(queue.x, queue.y, queue.width, queue.height);
    pen.fill();
    pen.stroke();
    pen.fillStyle = colours.soft;
    for (const { x, y } of [...servers, client]) {
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.fillStyle = colours.paper;
      pen.fill();
      pen.stroke();
    }
    pen.fillStyle = colours.soft;
    const most = Number(this.facts["buffer_packets"] ?? 0);
    const is = most > cells ? `buffer: ${most} packets, ${Math.ceil(most / cells)} per cell` : `buffer: ${most} packets`;
    canvas.text(is, queue.x + queue.width / 2, queue.y - 12, "center");
    canvas.text("servers", 8, 10);
    canvas.text("client", client.x + 20, client.y - 22, "right");
    servers.forEach(({ x, y }, flow) =>
      canvas.name(x - radius, y - radius, 2 * radius, 2 * radius, `Server ${flow}`));
  }

  /** A timer is a ring that fills from the last packet to the timeout. */
  private drawWaits({ servers, radius }: Layout, block: Block, time: number): void {
    const { canvas } = this;
    const { pen, colours } = canvas;
    pen.strokeStyle = colours.wait;
    pen.lineWidth = Math.max(radius * 0.5, 2);
    for (const { flow, start, end, cause, rto } of block.waits) {
      const spot = servers[flow];
      if (time <= start || time > end || spot === undefined) continue;
      const share = (time - start) / (end - start);
      // Pale where it is still empty: also a wait that has just begun is seen.
      pen.globalAlpha = 0.3;
      pen.beginPath();
      pen.arc(spot.x, spot.y, radius + 1, 0, 2 * Math.PI);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.beginPath();
      pen.arc(spot.x, spot.y, radius + 1, -Math.PI / 2, (2 * share - 0.5) * Math.PI);
      pen.stroke();
      const why = CAUSES[cause] ?? cause;
      canvas.name(spot.x - radius, spot.y - radius, 2 * radius, 2 * radius,
        `Server ${flow} waits for its timer (${seconds(rto)}): ${why}`);
    }
    pen.lineWidth = 1;
  }

  private drawPackets(layout: Layout, block: Block, time: number): void {
    const { hops, story } = block;
    const queued: number[] = [];
    for (const hop of story.near(this.told)) {
      if ((hops.offered[hop] ?? 0) > time) continue;
      if (!Number.isNaN(hops.dropped[hop])) this.drawDrop(layout, block, hop, time);
      else if (over(hops, hop) < time) continue;
      else if (this.isQueued(hop, time)) queued.push(hop);
      else this.drawMoving(layout, block, hop, time);
    }
    queued.sort((a, b) => (hops.left[a] ?? 0) - (hops.left[b] ?? 0));
    queued.forEach((hop, place) => this.drawQueued(layout, block, hop, place));
  }

  /** When the first bit of a packet leaves its port. */
  private sent(hop: number): number {
    const hops = this.block?.hops;
    const line = Number(this.facts[hops?.place[hop] === 0 ? "server_rate_bps" : "client_rate_bps"] ?? 1e9);
    return Math.max((hops?.left[hop] ?? NaN) - ((hops?.bytes[hop] ?? 0) * 8) / line, hops?.offered[hop] ?? 0);
  }

  /** Whether a packet waits in the port towards the client. */
  private isQueued(hop: number, time: number): boolean {
    const hops = this.block?.hops;
    return hops?.forward[hop] === 1 && hops.place[hop] === 1 && time < this.sent(hop);
  }

  private drawQueued({ queue, cells }: Layout, block: Block, hop: number, place: number): void {
    const most = Number(this.facts["buffer_packets"] ?? cells);
    const pitch = queue.width / cells;
    const cell = Math.floor((place / Math.max(most, 1)) * cells);
    const x = queue.x + queue.width - (cell + 1) * pitch;
    const [width, height] = [Math.max(pitch - 1, 1), queue.height - 6];
    this.paint(block, hop, x, queue.y + 3, width, height, `, number ${place + 1} in the queue`);
  }

  private drawMoving(layout: Layout, block: Block, hop: number, time: number): void {
    const { hops } = block;
    const [sent, arrived] = [this.sent(hop), hops.arrived[hop] ?? NaN];
    const share = Number.isNaN(arrived) ? 0 : Math.min(Math.max((time - sent) / (arrived - sent), 0), 1);
    const server = layout.servers[hops.flow[hop] ?? 0];
    if (server === undefined) return;
    const isForward = hops.forward[hop] === 1;
    const ends: readonly [Spot, Spot] = isForward
      ? hops.place[hop] === 0 ? [server, layout.entry] : [layout.exit, layout.client]
      : hops.place[hop] === 0 ? [layout.client, layout.exit] : [layout.entry, server];
    const [from, to] = ends;
    // What goes back keeps to the other side of the line.
    const aside = isForward ? -3 : 4;
    const x = from.x + (to.x - from.x) * share;
    const y = from.y + (to.y - from.y) * share + aside;
    const size = (hops.bytes[hop] ?? 0) > 200 ? 7 : 3;
    this.paint(block, hop, x - size / 2, y - size / 2, size, size, share > 0 ? "" : ", in its host");
  }

  private drawDrop({ queue }: Layout, block: Block, hop: number, time: number): void {
    const { story, hops } = block;
    const at = story.tell(hops.dropped[hop] ?? 0);
    const share = (this.told - at) / story.fall;
    if (time < (hops.dropped[hop] ?? 0) || share > 1) return;
    const { canvas } = this;
    const deep = canvas.height - queue.y - queue.height - 8;
    const x = queue.x + 4 + ((hops.flow[hop] ?? 0) * 7) % Math.max(queue.width / 2, 8);
    const y = queue.y + queue.height + 6 + share * share * deep;
    canvas.pen.globalAlpha = 1 - share * 0.7;
    canvas.crosses([{ x, y }], 4, 2);
    canvas.pen.globalAlpha = 1;
    canvas.name(x - 4, y - 4, 8, 8, `${this.nameOf(block, hop)}: dropped because the queue was full`);
  }

  private nameOf({ hops }: Block, hop: number): string {
    const flow = hops.flow[hop] ?? 0;
    const [seq, size] = [hops.seq[hop] ?? 0, hops.bytes[hop] ?? 0];
    const way = hops.forward[hop] === 1 ? `Server ${flow} → client` : `Client → server ${flow}`;
    const again = hops.again[hop] === 1 ? ", sent again" : "";
    const marked = hops.marked[hop] === 1 ? ", marked" : "";
    const kind = hops.kind(hop);
    const what = kind === "data" ? `data from byte ${seq}` : kind === "ack" ? `ACK ${hops.ack[hop] ?? 0}` : kind;
    return `${way}: ${what}, ${bytes(size)}${again}${marked}`;
  }

  /** A packet; one sent again is hollow, one with a mark is split by a bar. */
  private paint(
    block: Block, hop: number, x: number, y: number, width: number, height: number, where: string,
  ): void {
    const { canvas } = this;
    const { pen, colours } = canvas;
    const isAck = block.hops.forward[hop] === 0;
    pen.fillStyle = isAck ? colours.soft : colours[this.colour];
    pen.strokeStyle = pen.fillStyle;
    const isHollow = block.hops.again[hop] === 1 && width > 3;
    if (isHollow) pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    else pen.fillRect(x, y, width, height);
    if (block.hops.marked[hop] === 1) {
      if (!isHollow) pen.fillStyle = colours.paper;
      pen.fillRect(x, y + height / 2 - 1, width, 2);
    }
    canvas.name(x, y, width, height, this.nameOf(block, hop) + where);
  }
}
