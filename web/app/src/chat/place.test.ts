import fc from "fast-check";
import { expect, test } from "vitest";
import { placeQuote, SpanError } from "./place";

const encode = (text: string) => new TextEncoder().encode(text);

function whole(text: string) {
  const bytes = encode(text);
  return { bytes, offset: 0, total: bytes.length };
}

/** The span of the first `quote` in `text`, in bytes. */
function span(text: string, quote: string): [number, number] {
  const start = encode(text.slice(0, text.indexOf(quote))).length;
  return [start, start + encode(quote).length];
}

test("offsets are bytes: emoji, CJK, combining marks and a byte order mark before the quote", () => {
  const text = "\uFEFF🧭 naïve 検索は、e\u0301tude 👩‍👩‍👧 — the quote 引用 🎯 stands here. 終わり";
  const quote = "the quote 引用 🎯 stands";
  const [start, end] = span(text, quote);
  expect(start).not.toBe(text.indexOf(quote)); // else this test could not fail
  expect(placeQuote(whole(text), start, end, 1000)).toEqual({
    before: text.slice(0, text.indexOf(quote)),
    quote,
    after: " here. 終わり",
    cutBefore: false,
    cutAfter: false,
  });
});

test("a part of the text is placed by its own offset", () => {
  const text = "検索".repeat(500) + "\nthe line before\nthe quote\nthe line after\n" + "🎯".repeat(500);
  const all = encode(text);
  const [start, end] = span(text, "the quote");
  const part = { bytes: all.subarray(start - 31, end + 40), offset: start - 31, total: all.length };
  expect(placeQuote(part, start, end, 30)).toEqual({
    before: "the line before\n",
    quote: "the quote",
    after: "\nthe line after",
    cutBefore: true,
    cutAfter: true,
  });
});

test("the text around is cut at lines, else at words, else at characters", () => {
  const words = "one two three QUOTE four five six";
  expect(placeQuote(whole(words), ...span(words, "QUOTE"), 8)).toMatchObject({ before: "three ", after: " four" });
  const kanji = "一二三四五QUOTE六七八九十";
  expect(placeQuote(whole(kanji), ...span(kanji, "QUOTE"), 7)).toMatchObject({ before: "四五", after: "六七" });
});

test("a span outside the text or inside a character is refused", () => {
  const text = whole("ab検索");
  for (const [start, end] of [[0, 9], [-1, 2], [3, 3], [4, 2], [3, 5], [2, 4], [Number.NaN, 2]] as const) {
    expect(() => placeQuote(text, start, end, 10), `${start}..${end}`).toThrow(SpanError);
  }
});

test("for every text and span: the quote is exact and the context belongs to it", () => {
  const piece = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(piece, piece.filter((s) => s !== ""), piece, fc.nat(40), (before, quote, after, radius) => {
      const text = before + quote + after;
      const start = encode(before).length;
      const place = placeQuote(whole(text), start, start + encode(quote).length, radius);
      expect(place.quote).toBe(quote);
      expect(before.endsWith(place.before)).toBe(true);
      expect(after.startsWith(place.after)).toBe(true);
      expect(place.cutBefore).toBe(place.before !== before);
      expect(place.cutAfter).toBe(place.after !== after);
    }),
  );
});
