//! Tests of the laboratory's public interface.

mod application;
mod blast;
mod burst;
mod captures;
mod collective;
mod control;
mod departures;
mod foreign;
mod guests;
mod harness;
mod laws;
mod networks;
mod open;
mod openings;
mod pause;
mod probes;
mod recoveries;
mod remedies;
mod response;
mod switch;
mod taxonomy;
mod trace_kind;
mod traffic;
mod transports;
mod workloads;
