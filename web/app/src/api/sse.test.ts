import fc from "fast-check";
import { expect, test } from "vitest";
import { EventStreamParser, type ServerEvent, serverEvents } from "./sse";

const encode = (text: string) => new TextEncoder().encode(text);

function parse(...pieces: Uint8Array[]): ServerEvent[] {
  const parser = new EventStreamParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

const stream =
  "\uFEFF: a comment\n" +
  "event: text_delta\r\ndata: {\"text\":\"naïve 検索 🧭\"}\r\n\r\n" +
  "data: first\rdata:second\rdata:  third\r\r" +
  "id: 7\nretry: 10\nevent: empty\n\n" + // no data: not an event
  "data\n\n" + // data without a colon is an empty line of data
  "event: result\ndata: \uFEFF{}\n\n" +
  "data: never closed\n";

const want: ServerEvent[] = [
  { event: "text_delta", data: '{"text":"naïve 検索 🧭"}' },
  { event: "message", data: "first\nsecond\n third" },
  { event: "message", data: "" },
  { event: "result", data: "\uFEFF{}" },
];

test("a stream is read as the standard says", () => {
  expect(parse(encode(stream))).toEqual(want);
});

test("a cut at any byte changes nothing", () => {
  const bytes = encode(stream);
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(parse(bytes.subarray(0, cut), bytes.subarray(cut)), `cut at byte ${cut}`).toEqual(want);
  }
});

test("byte by byte, from a buffer that is used again", () => {
  const parser = new EventStreamParser();
  const buffer = new Uint8Array(1);
  const events: ServerEvent[] = [];
  for (const byte of encode(stream)) {
    buffer[0] = byte;
    events.push(...parser.push(buffer));
  }
  expect(events).toEqual(want);
});

test("any events, written with any line ending and cut anywhere, come back", () => {
  const line = fc.string({ unit: "grapheme" }).filter((s) => !/[\r\n]/.test(s));
  const event = fc.record({ event: line.filter((s) => s !== "" && !s.startsWith(" ")), data: fc.array(line, { minLength: 1 }) });
  fc.assert(
    fc.property(
      fc.array(event),
      fc.constantFrom("\n", "\r", "\r\n"),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (events, eol, sizes) => {
        const text = events.map((e) => [`event: ${e.event}`, ...e.data.map((d) => `data: ${d}`), "", ""].join(eol)).join("");
        const bytes = encode(text);
        const pieces: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length]!;
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(parse(...pieces)).toEqual(events.map((e) => ({ event: e.event, data: e.data.join("\n") })));
      },
    ),
  );
});

test("stopping early cancels the body", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(encode("data: x\n\n")),
    cancel: () => void (cancelled = true),
  });
  for await (const event of serverEvents(body)) {
    expect(event.data).toBe("x");
    break;
  }
  expect(cancelled).toBe(true);
});
