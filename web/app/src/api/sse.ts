/** One server-sent event. */
export interface ServerEvent {
  /** The event's name; "message" where the stream names none. */
  event: string;
  data: string;
}

const LF = 10;
const CR = 13;

/** The most bytes one line or one event may have before the stream is given up. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/**
 * An incremental parser of text/event-stream, as the HTML standard describes
 * it (section 9.2.6): the events do not depend on how the bytes were cut.
 * Lines end with LF, CR or CRLF; an event that is not closed by an empty line
 * is never reported; ids and retry times are not used here and are skipped.
 */
export class EventStreamParser {
  #line: Uint8Array[] = []; // pieces of the line that has not ended yet
  #lineBytes = 0;
  #skipLF = false; // the last byte was a CR: an LF belongs to it
  #first = true; // no line was read yet: a byte order mark may stand here
  #event = "";
  #data: string[] = [];
  #dataLength = 0;

  /** Takes the next bytes and returns the events they complete, in order. */
  push(bytes: Uint8Array): ServerEvent[] {
    const events: ServerEvent[] = [];
    let start = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i];
      const skip = this.#skipLF && byte === LF;
      this.#skipLF = byte === CR;
      if (skip) {
        start = i + 1;
      } else if (byte === LF || byte === CR) {
        this.#keep(bytes.subarray(start, i));
        this.#endLine(events);
        start = i + 1;
      }
    }
    this.#keep(bytes.subarray(start));
    return events;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#lineBytes += piece.length;
    if (this.#lineBytes > MAX_EVENT_BYTES) throw new RangeError("The stream holds an event that is too long.");
    this.#line.push(piece.slice()); // the caller may use its buffer again
  }

  #endLine(events: ServerEvent[]): void {
    const line = this.#takeLine();
    if (line === "") {
      if (this.#data.length > 0) events.push({ event: this.#event || "message", data: this.#data.join("\n") });
      this.#event = "";
      this.#data = [];
      this.#dataLength = 0;
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "event") this.#event = value;
    if (field === "data") {
      this.#dataLength += value.length;
      if (this.#dataLength > MAX_EVENT_BYTES) throw new RangeError("The stream holds an event that is too long.");
      this.#data.push(value);
    }
  }

  // A line is decoded as a whole, so no character is ever cut.
  #takeLine(): string {
    let bytes = this.#line[0] ?? new Uint8Array();
    if (this.#line.length > 1) {
      bytes = new Uint8Array(this.#lineBytes);
      let at = 0;
      for (const piece of this.#line) {
        bytes.set(piece, at);
        at += piece.length;
      }
    }
    this.#line = [];
    this.#lineBytes = 0;
    // Only the stream's first character may be a byte order mark.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: !this.#first });
    this.#first = false;
    return decoder.decode(bytes);
  }
}

/** Reads a response's body as events; it ends when the body does. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventStreamParser();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    // Also when the caller stops early: the connection is let go.
    reader.cancel().catch(() => undefined);
  }
}
