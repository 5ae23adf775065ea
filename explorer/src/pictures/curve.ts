/** Goodput against the number of servers, one line per setting; the range over the seeds behind it. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import type { Point } from "../engine/messages.ts";
import { rate } from "../units.ts";
import { colours } from "./canvas.ts";

/** The runs of a curve: goodputs by number of servers. */
type Curve = Map<number, number[]>;

export const NAMES = ["A", "B"] as const;

export class CurvePicture {
  private plot: uPlot | undefined;
  private curves: Curve[] = [new Map(), new Map()];
  /** What the last job found, until the new one has its coarse curve. */
  private old: Curve[] = [new Map(), new Map()];
  private isCoarse = false;
  private lines = 1;
  private limit = 1e9;
  private frame = 0;

  constructor(private readonly place: HTMLElement, private readonly onPick: (servers: number) => void) {
    new ResizeObserver(() => this.build()).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.build());
  }

  /** A new job begins: its points replace those shown once they are a curve. */
  begin(lines: number, limit: number): void {
    if (this.isCoarse) this.old = this.curves;
    this.curves = [new Map(), new Map()];
    this.isCoarse = false;
    if (lines !== this.lines || limit !== this.limit) {
      [this.lines, this.limit] = [lines, limit];
      this.build();
    }
  }

  /** The new curve has all of its coarse points. */
  coarse(): void {
    this.isCoarse = true;
    this.redraw();
  }

  add({ slot, servers, row }: Point): void {
    const curve = this.curves[slot];
    const goodput = row["goodput_bps"];
    if (curve === undefined || typeof goodput !== "number") return;
    curve.set(servers, [...(curve.get(servers) ?? []), goodput]);
    this.redraw();
  }

  /** The means, for a table: servers, and a goodput for each setting. */
  table(): (readonly [number, ...(number | undefined)[]])[] {
    const curves = this.shown();
    const all = new Set(curves.flatMap((curve) => [...curve.keys()]));
    const row = (servers: number): readonly [number, ...(number | undefined)[]] =>
      [servers, ...curves.slice(0, this.lines).map((curve) => mean(curve.get(servers)))];
    return [...all].sort((a, b) => a - b).map(row);
  }

  /** The old curve under the new points, until these are a curve of their own. */
  private shown(): Curve[] {
    if (this.isCoarse) return this.curves;
    return this.curves.map((curve, slot) => new Map([...(this.old[slot] ?? []), ...curve]));
  }

  private redraw(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.plot?.setData(this.data());
    });
  }

  private data(): uPlot.AlignedData {
    const curves = this.shown().slice(0, this.lines);
    const servers = [...new Set(curves.flatMap((curve) => [...curve.keys()]))].sort((a, b) => a - b);
    const series = curves.flatMap((curve) => {
      const of = (pick: (runs: readonly number[]) => number): (number | null)[] =>
        servers.map((count) => {
          const runs = curve.get(count);
          return runs === undefined ? null : pick(runs);
        });
      return [of((runs) => Math.max(...runs)), of((runs) => Math.min(...runs)), of((runs) => mean(runs) ?? 0)];
    });
    return [servers, ...series];
  }

  private build(): void {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0 || height === 0) return;
    this.plot?.destroy();
    const { soft, faint, ink, paper, first, second } = colours(this.place);
    const axis = { stroke: soft, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint }, font: "12px system-ui" };
    const line = (slot: number): uPlot.Series[] => {
      const colour = slot === 0 ? first : second;
      // B is dashed and has hollow points, so that both are told apart in grey.
      const dash = slot === 0 ? {} : { dash: [6, 4] };
      const edge = { stroke: `${colour}66`, width: 1, points: { show: false }, spanGaps: true, ...dash };
      const points = { show: true, size: slot === 0 ? 5 : 7, fill: slot === 0 ? colour : paper };
      return [
        edge, edge,
        { label: NAMES[slot] ?? "", stroke: colour, width: 2, spanGaps: true, points, ...dash },
      ];
    };
    const slots = Array.from({ length: this.lines }, (_, slot) => slot);
    const bands = slots.map((slot) => ({
      series: [slot * 3 + 1, slot * 3 + 2] as uPlot.Band.Bounds,
      fill: `${slot === 0 ? first : second}2e`,
    }));
    const limit = (plot: uPlot): void => this.drawLimit(plot, ink);
    this.plot = new uPlot(
      {
        width, height, legend: { show: false }, cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false, range: () => [0, 66] }, y: { range: () => [0, this.limit * 1.06] } },
        axes: [
          { ...axis, label: "servers", labelSize: 18, labelFont: "12px system-ui", size: 34 },
          { ...axis, size: 88, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "0" : rate(tick))) },
        ],
        series: [{}, ...slots.flatMap(line)],
        bands, hooks: { draw: [limit] },
      },
      this.data(),
      this.place,
    );
    this.plot.over.addEventListener("click", ({ offsetX }) => {
      const servers = Math.round(this.plot?.posToVal(offsetX, "x") ?? 1);
      this.onPick(Math.min(Math.max(servers, 1), 64));
    });
  }

  /** The rate of the client's link. */
  private drawLimit({ ctx, bbox, valToPos }: uPlot, ink: string): void {
    const y = valToPos(this.limit, "y", true);
    ctx.save();
    ctx.strokeStyle = ink;
    ctx.setLineDash([2, 4]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }
}

function mean(runs: readonly number[] | undefined): number | undefined {
  return runs && runs.reduce((sum, run) => sum + run, 0) / runs.length;
}
