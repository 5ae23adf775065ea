import { defineConfig } from "@playwright/test";

const port = 41_877;

/** The tests: the page as `incast explore` serves it, in the Chromium of the system. */
export default defineConfig({
  testDir: "tests",
  timeout: 90_000,
  workers: 2,
  fullyParallel: true,
  // A busy machine delays workers; what fails is tried again and told as flaky.
  retries: 2,
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
