/** The queue towards the client over the time of a block, and its limit. */

import type { Block } from "../block.ts";
import type { Row } from "../engine/door.ts";
import { bytes, seconds } from "../units.ts";
import { Timeline } from "./timeline.ts";

export class QueuePicture extends Timeline {
  private facts: Row = {};

  constructor(place: HTMLElement, private readonly colour: "first" | "second", onPick: (told: number) => void) {
    super(place, "The queue towards the client", onPick);
  }

  showWith(block: Block, facts: Row): void {
    this.facts = facts;
    this.show(block);
  }

  protected describe({ row }: Block): string {
    const most = Number(row["queue_max_bytes"] ?? 0);
    return `The queue towards the client: at most ${bytes(most)} of ${bytes(this.limit())}, ${row["drops"]} drops`;
  }

  protected paint({ queue, hops, drops }: Block): void {
    const { canvas } = this;
    const { pen, colours } = canvas;
    const floor = canvas.height - this.bottom;
    const highest = Math.max(this.limit(), ...queue.most) * 1.08 || 1;
    const y = (length: number): number => floor - (length / highest) * (floor - this.top);
    pen.fillStyle = colours[this.colour];
    for (let bin = 0; bin < queue.rows; bin += 1) {
      const [start = 0, width = 0, most = 0] = [queue.time[bin], queue.width[bin], queue.most[bin]];
      // Whole pixels: bins that share one would be paler there.
      const [from, to] = [Math.floor(this.x(start)), Math.ceil(this.x(start + width))];
      pen.fillRect(from, y(most), to - from, floor - y(most));
      canvas.name(from, this.top, to - from, floor - this.top,
        `${seconds(start)}: ${queue.packets[bin] ?? 0} packets wait, ${bytes(most)}`);
    }
    pen.strokeStyle = colours.ink;
    pen.setLineDash([5, 4]);
    canvas.line(this.left, y(this.limit()), canvas.width - this.right, y(this.limit()));
    pen.setLineDash([]);
    canvas.crosses(drops.map((hop) => ({ x: this.x(hops.dropped[hop] ?? 0), y: this.top + 4 })), 3);
    pen.fillStyle = colours.soft;
    canvas.text(bytes(this.limit()), this.left - 6, y(this.limit()), "right");
    canvas.text("0", this.left - 6, floor - 4, "right");
  }

  /** The longest queue that the port may have, bytes. */
  private limit(): number {
    return Number(this.facts["buffer_bytes"] ?? 0);
  }
}
