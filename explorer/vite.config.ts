import { defineConfig } from "vite";

export default defineConfig({
  // Relative addresses: the page may stand in any folder of any server.
  base: "./",
  build: {
    outDir: "../python/incast/explorer",
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would be `data:` addresses, which the page's own policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
});
