//! The stopwatch of the column `wall_s`: the only reader of the wall clock.

/// Measures wall-clock time. WebAssembly has no clock, so its stopwatch reads 0.
pub struct Stopwatch(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Stopwatch {
    /// Starts a stopwatch.
    #[cfg(not(target_family = "wasm"))]
    #[expect(clippy::disallowed_methods, reason = "simulated time does not depend on it")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Seconds since the start.
    #[cfg(not(target_family = "wasm"))]
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }

    /// Starts a stopwatch.
    #[cfg(target_family = "wasm")]
    pub fn start() -> Self {
        Self()
    }

    /// Zero.
    #[cfg(target_family = "wasm")]
    pub fn seconds(&self) -> f64 {
        0.0
    }
}
