import { readdir, rm } from "node:fs/promises";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const dist = new URL("../dist/", import.meta.url);

/**
 * Empties dist before a build but for placeholder.txt, which is in git and
 * keeps the Go package compiling where no page was built.
 */
function cleanDist(): Plugin {
  return {
    name: "ragagent-clean-dist",
    apply: "build",
    async buildStart() {
      for (const name of await readdir(dist)) {
        if (name !== "placeholder.txt") await rm(new URL(name, dist), { recursive: true });
      }
    },
  };
}

/**
 * Forbids everything the page does not need, whatever a document or a model
 * might slip into it. Only in the build: Vite's development server injects
 * styles, which this would block.
 */
function contentSecurityPolicy(): Plugin {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return {
    name: "ragagent-csp",
    apply: "build",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: policy }, injectTo: "head-prepend" },
    ],
  };
}

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), cleanDist(), contentSecurityPolicy()],
  base: "./",
  // Tests mount components, for which Svelte's browser build is needed.
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  build: {
    outDir: "../dist",
    emptyOutDir: false,
    // Small files stay files: data: addresses are not in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/api": process.env.RAGAGENT_URL ?? "http://127.0.0.1:8080" },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.ts"],
    restoreMocks: true,
    unstubGlobals: true,
  },
}));
