import fc from "fast-check";
import { expect, test } from "vitest";
import { stretches } from "./spans";

test("a child is marked in its section by bytes", () => {
  const text = "検索 🎯 child tail";
  const start = new TextEncoder().encode("検索 🎯 ").length;
  expect(
    stretches(text, [
      { start, end: start + 5, kind: "child" },
      { start: 0, end: 6, kind: "other" },
    ]),
  ).toEqual([
    { text: "検索", kind: "other" },
    { text: " 🎯 ", kind: "" },
    { text: "child", kind: "child" },
    { text: " tail", kind: "" },
  ]);
});

test("whatever the spans are, the text comes back as it was", () => {
  const span = fc.record({ start: fc.integer({ min: -9, max: 99 }), end: fc.integer({ min: -9, max: 99 }), kind: fc.constantFrom("a", "b") });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), fc.array(span, { maxLength: 6 }), (text, spans) => {
      expect(stretches(text, spans).map((s) => s.text).join("")).toBe(text);
    }),
  );
});
