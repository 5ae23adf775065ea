//! The defining property of each remedy, in a small world.

mod adaptive_rto;
mod batching;
mod efr;
mod fine_rto;
mod gip;
mod head_tail;
mod header_compression;
mod icat;
mod ictcp;
mod off;
mod pairs;
mod plato;
mod prob_rtx;
mod rapid;
mod resize;
mod serialize;
mod staggering;
