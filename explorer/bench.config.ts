import { defineConfig } from "@playwright/test";

import tests from "./playwright.config.ts";

/** The measurements of `make bench-explorer`. */
export default defineConfig({ ...tests, testDir: "bench", testMatch: "*.bench.ts", timeout: 180_000, workers: 1 });
