//! The defining property of each remedy, in a small world.

mod plato;
