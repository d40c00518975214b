/** A stretch of a text and what it is: "" where it is nothing special. */
export interface Stretch<K extends string> {
  text: string;
  kind: K | "";
}

export interface Span<K extends string> {
  /** In bytes of UTF-8, as the server counts. */
  start: number;
  end: number;
  kind: K;
}

/**
 * Cuts a text at its spans. They may lie in any order, overlap (the one named
 * first wins) and reach over the ends. Every byte comes back exactly once.
 */
export function stretches<K extends string>(text: string, spans: Span<K>[]): Stretch<K>[] {
  const bytes = new TextEncoder().encode(text);
  const inside = (n: number) => Math.max(0, Math.min(bytes.length, n));
  const edges = [...new Set([0, bytes.length, ...spans.flatMap(({ start, end }) => [inside(start), inside(end)])])]
    // A span that does not fit the text must not cut a character in two.
    .filter((edge) => ((bytes[edge] ?? 0) & 0xc0) !== 0x80)
    .sort((a, b) => a - b);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const out: Stretch<K>[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [from, to] = [edges[i]!, edges[i + 1]!];
    const kind = spans.find(({ start, end }) => start <= from && to <= end)?.kind ?? "";
    out.push({ text: decoder.decode(bytes.subarray(from, to)), kind });
  }
  return out;
}
