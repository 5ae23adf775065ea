/** The swimlane of a block: a lane per server, with its packets, its waits and its drops. */

import type { Block } from "../block.ts";
import { CAUSES, seconds } from "../units.ts";
import { Timeline } from "./timeline.ts";

export class Lanes extends Timeline {
  constructor(place: HTMLElement, private readonly colour: "first" | "second", onPick: (told: number) => void) {
    super(place, "The block, a lane per server", onPick);
  }

  protected describe({ lanes, waits, drops, end }: Block): string {
    const longest = waits.reduce((most, { start, end: stop }) => Math.max(most, stop - start), 0);
    const waited = waits.length === 0 ? "no server waits for a timer"
      : `${waits.length} waits for a timer, the longest of ${seconds(longest)}`;
    return `The block: ${lanes.length} servers, ${seconds(end)}, ${drops.length} drops, ${waited}`;
  }

  protected paint(block: Block): void {
    const { canvas } = this;
    const { pen, colours } = canvas;
    const count = Math.max(...block.lanes.map(({ flow }) => flow + 1), 1);
    const pitch = (canvas.height - this.top - this.bottom) / count;
    const y = (flow: number): number => this.top + flow * pitch;
    const thick = Math.max(pitch * 0.7, 1);
    for (const { flow, start, end } of block.lanes) {
      const [from, to] = [this.x(start), this.x(end)];
      pen.fillStyle = colours.faint;
      pen.fillRect(from, y(flow), Math.max(to - from, 1), thick);
      canvas.name(from, y(flow), to - from, thick, `Server ${flow}: asked at ${seconds(start)}, done at ${seconds(end)}`);
    }
    this.drawArrivals(block, y, thick);
    for (const { flow, start, end, cause, place, rto } of block.waits) {
      const [from, to] = [this.x(start), this.x(end)];
      this.hatch(from, y(flow), Math.max(to - from, 2), thick);
      const where = place === "block_head" ? ", in the first window of the block" : "";
      canvas.name(from, y(flow), to - from, thick,
        `Server ${flow} waits ${seconds(end - start)} for a timer of ${seconds(rto)}: ${CAUSES[cause] ?? cause}${where}`);
    }
    const drops = block.drops.map((hop) => ({
      x: this.x(block.hops.dropped[hop] ?? 0), y: y(block.hops.flow[hop] ?? 0) + thick / 2,
    }));
    canvas.crosses(drops, Math.min(thick / 2, 3));
    pen.fillStyle = colours.soft;
    const step = Math.ceil(12 / pitch);
    for (let flow = 0; flow < count; flow += step) canvas.text(String(flow), this.left - 6, y(flow) + thick / 2, "right");
  }

  /** A stroke for each packet of data that reaches the client. */
  private drawArrivals({ hops }: Block, y: (flow: number) => number, thick: number): void {
    const { pen, colours } = this.canvas;
    pen.fillStyle = colours[this.colour];
    for (let hop = 0; hop < hops.count; hop += 1) {
      if (hops.forward[hop] !== 1 || hops.place[hop] !== 1 || (hops.bytes[hop] ?? 0) < 200) continue;
      const arrived = hops.arrived[hop] ?? NaN;
      if (!Number.isNaN(arrived)) pen.fillRect(this.x(arrived), y(hops.flow[hop] ?? 0), 1, thick);
    }
  }

  /** A wait is hatched, so that it is seen in grey, too. */
  private hatch(x: number, y: number, width: number, height: number): void {
    const { pen, colours } = this.canvas;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.globalAlpha = 0.35;
    pen.fillStyle = colours.wait;
    pen.fillRect(x, y, width, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.wait;
    for (let at = x - height; at < x + width; at += 6) this.canvas.line(at, y + height, at + height, y);
    pen.restore();
  }
}
