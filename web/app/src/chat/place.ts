import type { TextPart } from "../api/client";

/** A quote inside the text around it. */
export interface Place {
  before: string;
  quote: string;
  after: string;
  /** There is more text in front of `before`. */
  cutBefore: boolean;
  /** There is more text behind `after`. */
  cutAfter: boolean;
}

/** The span a citation names does not lie in the text as it is now. */
export class SpanError extends Error {
  override readonly name = "SpanError";
}

/**
 * How far the ends of the shown text are moved inwards, at most, to begin and
 * end with a whole line or word. In bytes.
 */
const MAX_TRIM = 160;

/**
 * Finds the bytes start..end of a document's text in a part of that text, with
 * up to `radius` bytes on either side. Offsets count bytes of UTF-8, as
 * citations do, whereas JavaScript strings count UTF-16 units: nothing here is
 * cut before it has been cut as bytes.
 */
export function placeQuote(part: TextPart, start: number, end: number, radius: number): Place {
  const { bytes, offset, total } = part;
  const from = start - offset;
  const to = end - offset;
  if (!(0 <= from && from < to && to <= bytes.length)) {
    throw new SpanError(`bytes ${start} to ${end} are not in this text of ${total} bytes`);
  }
  if (inCharacter(bytes, from) || inCharacter(bytes, to)) {
    throw new SpanError(`bytes ${start} to ${end} begin or end inside a character`);
  }
  const first = offset === 0 && from <= radius ? 0 : wholeStart(bytes, Math.max(0, from - radius), from);
  const last = offset + bytes.length === total && bytes.length - to <= radius
    ? bytes.length
    : wholeEnd(bytes, Math.min(bytes.length, to + radius), to);
  return {
    before: decode(bytes.subarray(first, from)),
    quote: decode(bytes.subarray(from, to)),
    after: decode(bytes.subarray(to, last)),
    cutBefore: offset + first > 0,
    cutAfter: offset + last < total,
  };
}

function decode(bytes: Uint8Array): string {
  // A byte order mark inside a text is a character like any other.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Says whether a cut at i would fall inside a character. */
function inCharacter(bytes: Uint8Array, i: number): boolean {
  const byte = bytes[i];
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

const isNewline = (byte: number | undefined) => byte === 10;
const isSpace = (byte: number | undefined) => byte === 32 || byte === 10 || byte === 9;

/** The first start of a line, else of a word, else of a character, from i on. */
function wholeStart(bytes: Uint8Array, i: number, limit: number): number {
  const until = Math.min(limit, i + MAX_TRIM);
  for (const ends of [isNewline, isSpace]) {
    for (let k = i; k < until; k++) if (ends(bytes[k])) return k + 1;
  }
  while (i < limit && inCharacter(bytes, i)) i++;
  return i;
}

/** The last end of a line, else of a word, else of a character, up to i. */
function wholeEnd(bytes: Uint8Array, i: number, limit: number): number {
  const until = Math.max(limit, i - MAX_TRIM);
  for (const ends of [isNewline, isSpace]) {
    for (let k = i - 1; k >= until; k--) if (ends(bytes[k])) return k;
  }
  while (i > limit && inCharacter(bytes, i)) i--;
  return i;
}
