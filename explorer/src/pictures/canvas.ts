/** A canvas in the page: its size in pixels of the screen, its colours, and what the pointer is at. */

export interface Colours {
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly paper: string;
  readonly first: string;
  readonly second: string;
  readonly wait: string;
  readonly drop: string;
}

/** Something drawn that has a name. */
interface Named {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly name: string;
}

/** How far from a thing the pointer may be, pixels. */
const REACH = 6;

export class Canvas {
  readonly element = document.createElement("canvas");
  readonly pen: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  colours: Colours;
  private named: Named[] = [];
  private readonly tip = document.createElement("div");
  private pointer: { x: number; y: number } | undefined;

  /** `draw` is called when the size or the colours change. */
  constructor(
    readonly place: HTMLElement,
    label: string,
    private readonly draw: () => void,
  ) {
    const pen = this.element.getContext("2d");
    if (pen === null) throw new Error("this browser has no canvas");
    this.pen = pen;
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", label);
    this.tip.className = "tip";
    this.tip.hidden = true;
    place.append(this.element, this.tip);
    this.colours = colours(place);
    new ResizeObserver(() => this.measure()).observe(place);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => {
        this.colours = colours(place);
        this.draw();
      });
    }
    this.element.addEventListener("pointermove", ({ offsetX, offsetY }) => {
      this.pointer = { x: offsetX, y: offsetY };
      this.point();
    });
    this.element.addEventListener("pointerleave", () => {
      this.pointer = undefined;
      this.point();
    });
  }

  /** An empty sheet. */
  clear(): void {
    this.named = [];
    this.pen.clearRect(0, 0, this.width, this.height);
    this.pen.globalAlpha = 1;
    this.pen.lineWidth = 1;
    this.pen.setLineDash([]);
    this.pen.font = "12px system-ui, sans-serif";
    this.pen.textBaseline = "middle";
  }

  /** Gives a name to a part of the picture. Later ones are above earlier ones. */
  name(x: number, y: number, width: number, height: number, name: string): void {
    this.named.push({ x, y, width, height, name });
  }

  /** The picture is finished: shows the name of what the pointer is at. */
  point(): void {
    const found = this.pointer && this.at(this.pointer.x, this.pointer.y);
    this.tip.hidden = found === undefined;
    if (found === undefined || this.pointer === undefined) return;
    this.tip.textContent = found.name;
    const left = Math.min(this.pointer.x + 12, Math.max(this.width - this.tip.offsetWidth, 0));
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${this.pointer.y + 16}px`;
  }

  text(text: string, x: number, y: number, align: CanvasTextAlign = "left"): void {
    this.pen.textAlign = align;
    this.pen.fillText(text, x, y);
  }

  line(x1: number, y1: number, x2: number, y2: number): void {
    this.pen.beginPath();
    this.pen.moveTo(x1, y1);
    this.pen.lineTo(x2, y2);
    this.pen.stroke();
  }

  /** Two crossed strokes each: drops. Their edge tells them from what is behind them, in grey, too. */
  crosses(spots: readonly { readonly x: number; readonly y: number }[], reach: number, width = 1): void {
    const { pen, colours } = this;
    for (const [stroke, edge] of [[colours.paper, 2], [colours.drop, 0]] as const) {
      [pen.strokeStyle, pen.lineWidth] = [stroke, width + edge];
      for (const { x, y } of spots) {
        this.line(x - reach, y - reach, x + reach, y + reach);
        this.line(x - reach, y + reach, x + reach, y - reach);
      }
    }
    pen.lineWidth = 1;
  }

  private at(x: number, y: number): Named | undefined {
    return this.named.findLast(
      (it) =>
        x >= it.x - REACH && x <= it.x + it.width + REACH &&
        y >= it.y - REACH && y <= it.y + it.height + REACH,
    );
  }

  private measure(): void {
    const { clientWidth, clientHeight } = this.place;
    if (clientWidth === 0 || clientHeight === 0) return;
    const scale = devicePixelRatio;
    [this.width, this.height] = [clientWidth, clientHeight];
    [this.element.width, this.element.height] = [clientWidth * scale, clientHeight * scale];
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.draw();
  }
}

/** The page's colours as its style sheet has them. */
export function colours(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim() || "gray";
  return {
    ink: of("ink"), soft: of("soft"), faint: of("faint"), paper: of("paper"),
    first: of("first"), second: of("second"), wait: of("wait"), drop: of("drop"),
  };
}
