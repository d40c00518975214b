import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// Documents and models write what this page shows. It is text, always: these
// are the ways in which text becomes markup or code, and none may be used.
const FORBIDDEN = [
  /\{@html\b/,
  /\b(inner|outer)HTML\b/,
  /\binsertAdjacentHTML\b/,
  /\bcreateContextualFragment\b/,
  /\bDOMParser\b/,
  /\bdocument\.write/,
  /\bsrcdoc\b/,
  /\beval\(/,
  /\bnew Function\b/,
  /\bsetTimeout\(\s*["'`]/,
  /https?:\/\//, // nothing is loaded from elsewhere
];

const root = import.meta.dirname;
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(svelte|ts|css)$/.test(name) && !name.endsWith(".test.ts"))
  .concat("../index.html");

test("there are sources to look at", () => {
  expect(sources).toContain(join("chat", "Answer.svelte"));
  expect(sources.length).toBeGreaterThan(20);
});

test.each(sources)("%s lets no text become markup", (name) => {
  const text = readFileSync(join(root, name), "utf8");
  for (const pattern of FORBIDDEN) expect(text).not.toMatch(pattern);
});
