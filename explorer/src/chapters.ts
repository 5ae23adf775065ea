/** Five stories, each with one picture that reacts, and a question that the sliders answer. */

import type { Scenario } from "./scenario.ts";
import { fromToml } from "./toml.ts";

export type PictureName = "curve" | "star" | "lanes" | "queue";

export interface Chapter {
  readonly title: string;
  /** Its name in the list of chapters. */
  readonly short: string;
  readonly text: readonly string[];
  readonly question: string;
  readonly picture: PictureName;
  /** The knobs that it leaves to the reader. */
  readonly knobs: readonly string[];
  readonly settings: () => Scenario[];
}

/** A read, with what a chapter changes. */
function read({ servers = 16, sru = "64KiB", buffer = "64KiB", transport = 'name = "newreno"' }): Scenario {
  return fromToml(`title = "A synchronised read"
[network]
topology = "star"
rate = "1Gbps"
delay = "25us"
buffer = "${buffer}"
[workload]
name = "barrier-read"
servers = ${servers}
sru = "${sru}"
blocks = 1
connections = "persistent"
request_jitter = "20us"
[transport]
${transport}
`);
}

export const CHAPTERS: readonly Chapter[] = [
  {
    title: "The barrier and the cliff",
    short: "The cliff",
    text: [
      "A client reads a block of data that is spread over many servers. It asks all of them at once, " +
        "and continues only when the last byte of the block has arrived. This is a barrier. The part " +
        "that each server sends is its server request unit, SRU.",
      "All answers meet at one port of the switch, the one towards the client. A few servers fill the " +
        "client's link. With more servers, more packets meet at the port than its buffer has room for, " +
        "and goodput falls off a cliff. A server that has lost too many packets is silent until its " +
        "timer expires. The client waits for that one server, and the link is idle.",
    ],
    question:
      "Where is the cliff if each server sends 8 KiB, and where if it sends 4 KiB? Does a smaller SRU remove the cliff, or only move it?",
    picture: "curve",
    knobs: ["servers", "sru", "buffer"],
    settings: () => [read({})],
  },
  {
    title: "Why three duplicate ACKs do not come",
    short: "Duplicate ACKs",
    text: [
      "TCP has a fast way to repair a loss. Every packet that arrives behind a gap makes the client " +
        "repeat its last ACK, and the third repetition makes the server send the lost packet again, " +
        "within about a round trip. So three packets must arrive behind the lost one.",
      "In a synchronised read, they often do not arrive. If the whole window was dropped, nothing arrives. " +
        "If one of the last packets of the SRU was dropped, fewer than three packets follow. If the " +
        "retransmission is dropped, too, there is no second fast repair. Then only the timer remains. " +
        "A waiting server has a ring that fills. Play the block, stop, and point at a ring or a packet.",
    ],
    question:
      "What is the most frequent cause of timeouts with 32 servers, and with 16 servers? Which servers still get three duplicate ACKs?",
    picture: "star",
    knobs: ["servers", "sru", "buffer"],
    settings: () => [read({ servers: 32 })],
  },
  {
    title: "The timer and its price",
    short: "The timer",
    text: [
      "A retransmission timer must be longer than any round trip of its packets, or it expires for " +
        "packets that are only late. RFC 6298 asks for at least a second; Linux uses 200 ms. Within a " +
        "rack, a round trip takes a tenth of a millisecond, so one timeout costs the time of two " +
        "thousand round trips.",
      "A short timer prevents no loss. It only changes what a loss costs. " +
        "Setting A has a minimum of 200 ms, and setting B a minimum of 1 ms.",
    ],
    question:
      "How short must the minimum of B be so that 48 servers reach half of the line rate? Is a shorter timer always better? Look at the timeouts of 64 servers with 200 µs, which is less than the time that a packet may wait in a full buffer.",
    picture: "curve",
    knobs: ["servers", "rto", "buffer", "rtt"],
    settings: () => [
      read({ servers: 32, transport: 'name = "newreno"\nrto_min = "200ms"' }),
      read({ servers: 32, transport: 'name = "newreno"\nrto_min = "1ms"' }),
    ],
  },
  {
    title: "The buffer's arithmetic",
    short: "The buffer",
    text: [
      "While n servers send, n links fill the buffer and one link empties it. If each server may have " +
        "w packets under way, n × w packets have to be somewhere: on the path, which holds one " +
        "bandwidth-delay product, or in the buffer of B packets. If n × w is larger than the sum of " +
        "both, drops are certain. The dashed line is the limit of the port.",
      "Many switches share one memory among their ports. With dynamic thresholds, a queue may grow " +
        "while it is shorter than α times the memory that is still free. If one port alone is congested, " +
        "it gets α / (1 + α) of the memory.",
    ],
    question:
      "Share the buffer with α = 1, and then with α = 8. Where is the dashed line, and how much memory does the switch need so that no timer expires?",
    picture: "queue",
    knobs: ["servers", "sru", "buffer", "sharing"],
    settings: () => [read({ servers: 12 })],
  },
  {
    title: "What remedies do, and where each ends",
    short: "Remedies",
    text: [
      "With DCTCP, the switch marks packets early, and senders reduce their windows by the share of " +
        "marks. The queue is short once the marks have reached the senders, but not in the first round " +
        "trips. With many servers, even one or two packets per server are too many for the buffer.",
      "PLATO labels a packet of each window, and the switch keeps room for labelled packets. The ACK " +
        "clock therefore continues. Packets are still lost, and are repaired.",
      "Serialisation (ccs, nccs, ocs) asks one server, or a few servers, at a time. Nothing is lost " +
        "while the buffer holds the windows of these servers, but the client has to know when to ask " +
        "which server.",
      "Setting A is NewReno. Give setting B another transport.",
    ],
    question:
      "Which of dctcp, plato and ocs keep half of the line rate up to 64 servers? Which of them keep it with a buffer of 16 KiB, and does dctcp keep it with a buffer of 256 KiB?",
    picture: "curve",
    knobs: ["transport", "servers", "buffer", "sru"],
    settings: () => [read({ servers: 32 }), read({ servers: 32, transport: 'name = "dctcp"' })],
  },
];
