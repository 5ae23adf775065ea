/** The engine's door (crates/web): a question as JSON in, an answer and columns of numbers out. */

interface Exports {
  readonly memory: WebAssembly.Memory;
  incast_question(bytes: number): number;
  incast_ask(): number;
  incast_answer(): number;
  incast_numbers(): number;
}

/** A result row, or numbers that follow from a scenario: values by name. */
export type Row = Readonly<Record<string, number | string | boolean | null>>;

/** A tree such as a scenario's document. */
export type Tree = { [key: string]: unknown };

export interface RunAnswer {
  readonly rows: readonly Row[];
  readonly tables: readonly TableShape[];
  /** The columns of the tables, one after another. */
  readonly numbers: Float64Array;
}

/** Where the columns of a table begin in the numbers of its answer. */
export interface TableShape {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly { name: string; first: number; names: string[] | null }[];
}

/** One line of the engine on what is wrong with a scenario. */
export class EngineError extends Error {}

/** An engine in this thread. */
export class Door {
  private exports: Exports;

  constructor(private readonly module: WebAssembly.Module, instance = new WebAssembly.Instance(module, {})) {
    this.exports = exportsOf(instance);
  }

  /** An engine in the page's thread, where some browsers refuse to make a large one at once. */
  static async open(module: WebAssembly.Module): Promise<Door> {
    return new Door(module, await WebAssembly.instantiate(module, {}));
  }

  /** Asks for something that has no columns of numbers. `question` is JSON. */
  ask(question: string): unknown {
    const { text } = this.exchange(question);
    const answer = JSON.parse(text) as { error?: string };
    if (answer.error !== undefined) throw new EngineError(answer.error);
    return answer;
  }

  /** Runs a scenario at one seed. `scenario` is JSON. */
  run(scenario: string, seed: number, traces: readonly string[] = [], journeys = false): RunAnswer {
    const question =
      `{"run":{"scenario":${scenario},"seed":${seed},` +
      `"traces":${JSON.stringify(traces)},"journeys":${journeys}}}`;
    const answer = this.ask(question) as RunAnswer & { numbers: number };
    const { memory, incast_numbers } = this.exports;
    const numbers = new Float64Array(memory.buffer, incast_numbers(), answer.numbers).slice();
    return { rows: answer.rows, tables: answer.tables, numbers };
  }

  private exchange(question: string): { text: string } {
    const bytes = new TextEncoder().encode(question);
    try {
      const { memory } = this.exports;
      const at = this.exports.incast_question(bytes.length);
      new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
      const length = this.exports.incast_ask();
      const answer = new Uint8Array(memory.buffer, this.exports.incast_answer(), length);
      return { text: new TextDecoder().decode(answer) };
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      // An engine that ran out of memory ends in a trap; the next question gets a new one.
      this.exports = exportsOf(new WebAssembly.Instance(this.module, {}));
      throw new EngineError("run: it needs more memory than a page has; choose a smaller scenario");
    }
  }
}

function exportsOf(instance: WebAssembly.Instance): Exports {
  return instance.exports as unknown as Exports;
}
