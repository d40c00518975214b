import { expect, test } from "vitest";
import { bytes, duration, jobProgress, pages, plural, remaining } from "./format";
import { parseRoute } from "./route.svelte";

test.each([[0, "0 B"], [999, "999 B"], [1000, "1.0 KB"], [1536, "1.5 KB"], [9960, "10 KB"], [999_600, "1.0 MB"], [12e6, "12 MB"], [5e15, "5000 TB"]])(
  "%d bytes are %s",
  (n, want) => expect(bytes(n)).toBe(want),
);

test.each([[0, "0 ms"], [999, "999 ms"], [1000, "1.0 s"], [59_949, "59.9 s"], [60_000, "1 min 0 s"], [125_000, "2 min 5 s"]])(
  "%d ms are %s",
  (ms, want) => expect(duration(ms)).toBe(want),
);

test.each([
  [1, "a few seconds left"],
  [12_000, "about 15 s left"],
  [59_000, "about 1 min left"],
  [150_000, "about 3 min left"],
  [3_600_000, "about 1 h left"],
])("%d ms to go: %s", (ms, want) => expect(remaining(ms)).toBe(want));

test("a job is told in words, with no more than is known", () => {
  const job = { id: "j", kind: "ingest", status: "running", done: 0, total: 0 } as const;
  expect(jobProgress({ ...job, status: "queued" })).toBe("Waiting its turn");
  expect(jobProgress(job)).toBe("Working");
  expect(jobProgress({ ...job, stage: "parse" })).toBe("Reading");
  expect(jobProgress({ ...job, stage: "embed", done: 1200, total: 4000, eta_ms: 12_000 })).toBe("Embedding · 1,200 of 4,000 · about 15 s left");
});

test("pages and plurals", () => {
  expect([pages({}), pages({ page_start: 3, page_end: 3 }), pages({ page_start: 3, page_end: 4 })]).toEqual(["", "page 3", "pages 3–4"]);
  expect([plural(1, "page"), plural(0, "page"), plural(1923, "page")]).toEqual(["1 page", "0 pages", "1,923 pages"]);
});

test("an address that is none of ours asks", () => {
  expect(parseRoute("")).toEqual({ view: "ask" });
  expect(parseRoute("#/nowhere")).toEqual({ view: "ask" });
  expect(parseRoute("#/knowledge")).toEqual({ view: "knowledge", kb: undefined });
  expect(parseRoute("#/knowledge/a%2Fb/c")).toEqual({ view: "knowledge", kb: "a/b" });
  expect(parseRoute("#/knowledge/%zz")).toEqual({ view: "knowledge", kb: undefined });
});
