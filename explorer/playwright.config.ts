import { defineConfig } from "@playwright/test";

const port = 41_877;

/** The tests: the page as `incast explore` serves it, in the Chromium of the system. */
export default defineConfig({
  testDir: "tests",
  // On a busy machine everything takes longer; no test counts seconds.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  workers: 2,
  fullyParallel: true,
  retries: 0,
  reporter: [["list"]],
  use: {
    baseURL: `http://127.0.0.1:${port}/`,
    viewport: { width: 1280, height: 900 },
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      // The sandbox of Chromium does not start for root.
      chromiumSandbox: false,
    },
  },
  webServer: {
    command: `../.venv/bin/incast explore --no-browser --port ${port}`,
    url: `http://127.0.0.1:${port}/`,
    reuseExistingServer: false,
  },
});
