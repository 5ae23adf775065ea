/** The page's state, and who is told when it changes. */

import { CHAPTERS } from "./chapters.ts";
import { Controls } from "./controls.ts";
import type { Engine, Listener } from "./engine/client.ts";
import type { Row } from "./engine/door.ts";
import { knobs } from "./knobs.ts";
import { fromHash, start, type State, toHash } from "./link.ts";
import { find } from "./page.ts";
import { CurvePicture, NAMES } from "./pictures/curve.ts";
import { type Scenario, servers, set, withoutSweep } from "./scenario.ts";
import { Stage } from "./stage.ts";
import { fromToml, toToml } from "./toml.ts";
import { wanted, withSweep } from "./wanted.ts";
import * as words from "./words.ts";

export class App {
  private state: State = start();
  private readonly controls: Controls;
  private readonly stage: Stage;
  private readonly curve: CurvePicture;
  private readonly rows: (Row | undefined)[] = [];
  private readonly lines: string[] = [];
  /** What is wrong with a text that was not opened. */
  private unread = "";
  /** Why the curve has no point at some numbers of servers. */
  private readonly gaps = new Map<number, string>();
  private saving: ReturnType<typeof setTimeout> | undefined;
  private restoring: number | undefined;
  private limit = 1e9;

  constructor(private readonly engine: Engine, transports: string[], remedies: string[], version: string) {
    const all = knobs(transports, remedies);
    this.controls = new Controls(find("#knobs"), all.values(), (scenario) => this.change(scenario));
    this.stage = new Stage((time) => this.keep({ ...this.state, time }));
    this.curve = new CurvePicture(find("#curve .picture"), (count) =>
      this.change(set(this.scenario, "workload.servers", BigInt(count))));
    find("#version").textContent = `version ${version}`;
    this.listen();
    this.drawChapters();
    addEventListener("hashchange", () => this.open(location.hash));
  }

  /** Shows what a link says. */
  open(hash: string): void {
    try {
      const state = fromHash(hash);
      const chapter = CHAPTERS[state.chapter - 1];
      const isFresh = chapter !== undefined && !hash.startsWith("#s=");
      this.restoring = state.time;
      this.adopt(isFresh ? { ...state, settings: chapter.settings(), active: chapter.settings().length - 1 } : state);
    } catch (error) {
      this.adopt(start());
      this.note((error as Error).message);
    }
  }

  private get scenario(): Scenario {
    return this.state.settings[this.state.active] ?? {};
  }

  /** Another state: everything is shown anew. */
  private adopt(state: State): void {
    const isOther = state.chapter !== this.state.chapter;
    this.state = state;
    this.note("");
    this.unread = "";
    this.showChapter(isOther);
    this.showSetting();
    this.ask();
  }

  /** A slider has moved. */
  private change(scenario: Scenario): void {
    const { settings, active } = this.state;
    this.state = { ...this.state, settings: settings.map((it, slot) => (slot === active ? scenario : it)) };
    // The engine begins at once; the page follows while it computes.
    this.ask();
    requestAnimationFrame(() => {
      this.controls.show(this.scenario, CHAPTERS[this.state.chapter - 1]?.knobs);
      this.showText();
    });
  }

  private keep(state: State): void {
    this.state = state;
    clearTimeout(this.saving);
    this.saving = setTimeout(() => history.replaceState(null, "", toHash(this.state)), 250);
  }

  private ask(): void {
    const { settings, chapter } = this.state;
    const picture = CHAPTERS[chapter - 1]?.picture;
    const job = settings.map((scenario, slot) => wanted(scenario, slot, picture !== "curve"));
    // The setting whose slider moves comes first.
    job.sort((a, b) => Number(b.slot === this.state.active) - Number(a.slot === this.state.active));
    this.engine.work(job, this.listener());
    this.lines.length = 0;
    this.showLines();
    this.gaps.clear();
    this.showGaps();
    this.curve.begin(settings.length, this.limit);
    this.keep(this.state);
  }

  private listener(): Listener {
    return {
      onFacts: (slot, facts) => {
        this.stage.facts(slot, facts);
        this.raise(slot, Number(facts["client_rate_bps"] ?? this.limit));
      },
      onPoint: (point) => {
        if (point.servers === (servers(this.state.settings[point.slot] ?? {}) ?? 0) && point.seed === 1) {
          this.rows[point.slot] = point.row;
        }
        if (point.servers > 0) this.curve.add(point);
        performance.mark("incast-point");
      },
      onBlock: (slot, run) => {
        this.stage.show(slot, run);
        this.restore();
        this.showWords();
      },
      onWrong: (slot, line) => {
        this.lines[slot] = line;
        this.showLines();
      },
      onGap: (servers, line) => {
        this.gaps.set(servers, line);
        this.showGaps();
      },
      onCoarse: () => {
        performance.mark("incast-coarse");
        this.curve.coarse();
        this.showWords();
      },
      onDone: () => {
        performance.mark("incast-done");
        this.showWords();
      },
    };
  }

  /** The axis reaches to the greatest rate of a client's link. */
  private readonly limits = [1e9, 1e9];

  private raise(slot: number, limit: number): void {
    this.limits[slot] = limit;
    const highest = Math.max(...this.limits.slice(0, this.state.settings.length));
    if (highest === this.limit) return;
    this.limit = highest;
    this.curve.begin(this.state.settings.length, highest);
  }

  /** Puts the time cursor where a link says, once there is a block. */
  private restore(): void {
    if (this.restoring === undefined) return;
    if (this.restoring > 0) this.stage.to(this.restoring);
    this.restoring = undefined;
  }

  private showLines(): void {
    const several = this.state.settings.length > 1;
    const told = this.lines.map((line, slot) => line && (several ? `${NAMES[slot]}: ${line}` : line));
    const text = [this.unread, ...told].filter(Boolean).join("\n");
    // Beside the sliders, and, where these are far away, beside the text.
    for (const id of ["#wrong", "#wrong-text"]) find(id).textContent = text;
  }

  private showGaps(): void {
    const [line] = this.gaps.values();
    const counts = [...this.gaps.keys()].sort((a, b) => a - b).join(", ");
    const isCurve = this.state.settings.some((scenario) => servers(scenario) !== undefined);
    find("#gaps").textContent = !isCurve ? "No curve: this scenario has no single number of servers to sweep."
      : line === undefined ? "" : `No point at ${counts} servers: ${line}`;
  }

  private showWords(): void {
    const { settings } = this.state;
    const names = settings.map((_, slot) => (settings.length > 1 ? `${NAMES[slot]}, ` : ""));
    const told = settings.map((scenario, slot) => {
      const row = this.rows[slot];
      return row && !this.lines[slot] ? words.summary(names[slot] ?? "", servers(scenario) ?? 0, row) : "";
    });
    find("#summary").textContent = told.filter(Boolean).join("\n");
    const shown = NAMES.slice(0, settings.length);
    find("#numbers div").replaceChildren(words.numbers(this.curve.table(), shown));
    const block = this.stage.blocks[this.state.active];
    find("#waits div").replaceChildren(...(block ? [words.waits(block)] : []));
  }

  private note(text: string): void {
    find("#note").textContent = text;
  }

  private showSetting(): void {
    const { settings, active, cut, chapter } = this.state;
    this.controls.show(this.scenario, CHAPTERS[chapter - 1]?.knobs);
    this.stage.arrange(settings.length, active);
    this.stage.shorten(cut);
    find<HTMLInputElement>("#cut").checked = cut;
    const several = settings.length > 1;
    find("#settings .choice").hidden = !several;
    find("#compare").textContent = several ? "Remove the other setting" : "Add a second setting";
    find<HTMLInputElement>(`input[name=active][value="${active}"]`).checked = true;
    const keys = settings.map((_, slot) => {
      const key = document.createElement("i");
      key.className = slot === 1 ? "second" : "";
      key.textContent = NAMES[slot] ?? "";
      return key;
    });
    find("#curve .key").replaceChildren(...(several ? keys : []));
    this.showText();
  }

  private showText(): void {
    find<HTMLTextAreaElement>("#toml").value = toToml(withSweep(this.scenario));
  }

  private drawChapters(): void {
    const names = ["Explorer", ...CHAPTERS.map(({ short }) => short)];
    const links = names.map((name, chapter) => {
      const link = document.createElement("a");
      link.href = chapter === 0 ? "#explorer" : `#chapter-${chapter}`;
      link.textContent = chapter === 0 ? name : `${chapter}. ${name}`;
      return link;
    });
    find("#chapters").replaceChildren(...links);
  }

  private showChapter(isOther: boolean): void {
    const chapter = CHAPTERS[this.state.chapter - 1];
    const article = find("#chapter");
    article.hidden = chapter === undefined;
    find("#chapters").querySelectorAll("a").forEach((link, number) => {
      if (number === this.state.chapter) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    for (const part of document.querySelectorAll<HTMLElement>("[data-picture]")) {
      const pictures = part.dataset["picture"]?.split(" ") ?? [];
      part.hidden = chapter !== undefined && !pictures.includes(chapter.picture);
    }
    // A curve needs no block.
    find("#waits").hidden = chapter?.picture === "curve";
    find("#settings").hidden = chapter !== undefined && chapter.settings().length === 1;
    find("#compare").hidden = chapter !== undefined;
    if (chapter === undefined) return;
    find("#chapter-title").textContent = `${this.state.chapter}. ${chapter.title}`;
    const paragraphs = chapter.text.map((text) => Object.assign(document.createElement("p"), { textContent: text }));
    find("#chapter-text").replaceChildren(...paragraphs);
    find("#question").textContent = chapter.question;
    if (isOther) find("#chapter-title").focus({ preventScroll: true });
  }

  private listen(): void {
    const on = (id: string, act: () => void): void => find(id).addEventListener("click", act);
    find("#settings").addEventListener("change", ({ target }) => {
      this.adopt({ ...this.state, active: Number((target as HTMLInputElement).value) });
    });
    on("#compare", () => {
      const { settings, active } = this.state;
      const isAlone = settings.length === 1;
      this.adopt({
        ...this.state,
        settings: isAlone ? [this.scenario, this.scenario] : [settings[active] ?? {}],
        active: isAlone ? 1 : 0,
      });
    });
    const cut = find<HTMLInputElement>("#cut");
    cut.addEventListener("change", () => {
      this.stage.shorten(cut.checked);
      this.keep({ ...this.state, cut: cut.checked });
    });
    on("#open", () => this.openText(find<HTMLTextAreaElement>("#toml").value));
    on("#copy", () => this.copy(find<HTMLTextAreaElement>("#toml").value, "The text"));
    on("#link", () => this.copy(new URL(toHash(this.state), location.href).href, "The link"));
    on("#reset", () => {
      const chapter = CHAPTERS[this.state.chapter - 1];
      this.adopt({ ...start(), chapter: this.state.chapter, ...(chapter && { settings: chapter.settings() }) });
    });
  }

  /** Opens a text as the active setting, in the explorer. */
  private openText(text: string): void {
    try {
      const { scenario, left } = withoutSweep(fromToml(text));
      const { settings, active } = this.state;
      this.adopt({ ...this.state, settings: settings.map((it, slot) => (slot === active ? scenario : it)) });
      if (left.length > 0) this.note(`The page sweeps only the number of servers. It uses the first value of: ${left.join(", ")}.`);
    } catch (error) {
      this.unread = (error as Error).message;
      this.showLines();
      this.pointAt(text);
    }
  }

  /** Puts the caret where the line and column of a mistake are. */
  private pointAt(text: string): void {
    const place = /^line (\d+), column (\d+): /.exec(this.unread);
    if (place === null) return;
    const [line, column] = [Number(place[1]), Number(place[2])];
    const before = text.split("\n").slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
    const area = find<HTMLTextAreaElement>("#toml");
    area.focus();
    area.setSelectionRange(before + column - 1, before + column);
  }

  private copy(text: string, what: string): void {
    const told = find("#copied");
    navigator.clipboard.writeText(text).then(
      () => (told.textContent = `${what} is in the clipboard.`),
      () => (told.textContent = `This browser does not let pages copy. ${what}: ${text}`),
    );
  }
}
