//! The laboratory through its public interface.

mod harness;
mod taxonomy;
