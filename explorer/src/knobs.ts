/** The sliders and lists: which key each moves, and between which values. */

import { get, isTree, type Scenario, set } from "./scenario.ts";

/** A slider over a few values, or a list of names. */
export interface Knob {
  readonly id: string;
  readonly label: string;
  /** The keys that it moves, for whoever looks for them in the scenario. */
  readonly key: string;
  readonly values: readonly string[];
  readonly isList: boolean;
  /** The text of the value in a scenario; empty if the scenario does not have it. */
  read(scenario: Scenario): string;
  write(scenario: Scenario, value: string): Scenario;
}

function text(value: unknown): string {
  if (isTree(value)) return text(value["name"]);
  return value === undefined ? "" : String(value);
}

/** A knob whose values are the texts of one key. */
function plain(id: string, label: string, key: string, values: readonly string[]): Knob {
  return {
    id,
    label,
    key,
    values,
    isList: false,
    read: (scenario) => text(get(scenario, key)),
    write: (scenario, value) => set(scenario, key, value),
  };
}

const SERVERS: Knob = {
  ...plain("servers", "Servers", "workload.servers", Array.from({ length: 64 }, (_, i) => `${i + 1}`)),
  write: (scenario, value) => set(scenario, "workload.servers", BigInt(value)),
};

const BUFFERS = ["8", "16", "24", "32", "48", "64", "96", "128", "192", "256", "384", "512", "1024"];

const BUFFER: Knob = {
  ...plain("buffer", "Buffer of the port", "network.buffer", BUFFERS.map((size) => `${size}KiB`)),
  // In a shared buffer the slider moves the whole memory.
  read: (scenario) => {
    const buffer = get(scenario, "network.buffer");
    return text(isTree(buffer) ? buffer["total"] : buffer);
  },
  write: (scenario, value) => {
    const isShared = isTree(get(scenario, "network.buffer"));
    return set(scenario, isShared ? "network.buffer.total" : "network.buffer", value);
  },
};

const OWN = "a buffer per port";

const SHARING: Knob = {
  id: "sharing",
  label: "Sharing",
  key: "network.buffer.alpha",
  values: [OWN, "2^-3", "2^-2", "2^-1", "1", "2", "4", "8"],
  isList: true,
  read: (scenario) => {
    const alpha = get(scenario, "network.buffer.alpha");
    return alpha === undefined ? OWN : text(alpha);
  },
  write: (scenario, value) => {
    const size = BUFFER.read(scenario);
    const number = /^\d+$/.test(value) ? Number(value) : value;
    const shared = { name: "dynamic", total: size, alpha: number };
    return set(scenario, "network.buffer", value === OWN ? size : shared);
  },
};

/** The propagation round trip is four times the delay of a link. */
const DELAYS: readonly (readonly [string, string])[] = [
  ["10us", "2.5us"], ["20us", "5us"], ["40us", "10us"], ["100us", "25us"], ["200us", "50us"],
  ["400us", "100us"], ["1ms", "250us"], ["2ms", "500us"], ["10ms", "2500us"],
];

const ROUND_TRIP: Knob = {
  ...plain("rtt", "Round trip of the path", "network.delay", DELAYS.map(([rtt]) => rtt)),
  read: (scenario) => {
    const delay = text(get(scenario, "network.delay"));
    return DELAYS.find(([, it]) => it === delay)?.[0] ?? (delay && `4 × ${delay}`);
  },
  write: (scenario, value) => set(scenario, "network.delay", DELAYS.find(([rtt]) => rtt === value)?.[1]),
};

const NONE = "none";

/** The lists of names come from the engine. */
function lists(transports: readonly string[], remedies: readonly string[]): Knob[] {
  return [
    { ...plain("transport", "Transport", "transport.name", transports), isList: true },
    {
      id: "remedy",
      label: "Remedy",
      key: "transport.remedies",
      values: [NONE, ...remedies],
      isList: true,
      read: (scenario) => {
        const given = get(scenario, "transport.remedies");
        return Array.isArray(given) && given.length > 0 ? given.map(text).join(" + ") : NONE;
      },
      write: (scenario, value) =>
        set(scenario, "transport.remedies", value === NONE ? undefined : [value]),
    },
  ];
}

const TIMES = ["200us", "500us", "1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms", "200ms", "500ms", "1s"];

/** All knobs, by name. */
export function knobs(transports: readonly string[], remedies: readonly string[]): Map<string, Knob> {
  const all = [
    SERVERS,
    plain("sru", "Data per server (SRU)", "workload.sru",
      ["4", "8", "16", "32", "64", "128", "256", "512"].map((size) => `${size}KiB`)),
    BUFFER,
    SHARING,
    plain("rto", "Minimum RTO", "transport.rto_min", TIMES),
    plain("rate", "Link rate", "network.rate", ["100Mbps", "1Gbps", "10Gbps", "25Gbps", "40Gbps", "100Gbps"]),
    ROUND_TRIP,
    ...lists(transports, remedies),
    plain("jitter", "Request jitter", "workload.request_jitter",
      ["0s", "1us", "5us", "20us", "50us", "100us", "200us", "500us", "1ms", "5ms"]),
  ];
  return new Map(all.map((knob) => [knob.id, knob]));
}
