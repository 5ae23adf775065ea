//! The main property of each remedy, in a small world.

mod adaptive_pacing;
mod adaptive_rto;
mod batching;
mod efr;
mod fine_rto;
mod gip;
mod head_tail;
mod header_compression;
mod ia_tcp;
mod icat;
mod ictcp;
mod off;
mod pac;
mod pairs;
mod plato;
mod prob_rtx;
mod rapid;
mod resize;
mod serialize;
mod staggering;
