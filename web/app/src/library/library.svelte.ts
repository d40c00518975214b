import { createKnowledgeBase, deleteDocument, deleteKnowledgeBase, listDocuments, listKnowledgeBases } from "../api/client";
import { describe } from "../api/problem";
import type { Document, KnowledgeBase } from "../api/types";

/** The knowledge bases there are. */
export class Library {
  bases = $state.raw<KnowledgeBase[]>([]);
  loaded = $state(false);
  problem = $state("");
  #latest = 0; // only the newest of several refreshes may write

  async refresh(): Promise<void> {
    const turn = ++this.#latest;
    try {
      const bases = await listKnowledgeBases();
      if (turn !== this.#latest) return;
      this.bases = bases;
      this.problem = "";
    } catch (error) {
      if (turn === this.#latest) this.problem = describe(error);
    } finally {
      if (turn === this.#latest) this.loaded = true;
    }
  }

  /** Makes one and returns it; what the server refuses is thrown. */
  async create(name: string, description: string): Promise<KnowledgeBase> {
    const made = await createKnowledgeBase(name, description);
    await this.refresh();
    return made;
  }

  async remove(id: string): Promise<void> {
    await deleteKnowledgeBase(id);
    await this.refresh();
  }
}

/** The first page is small, to be seen at once; the others are few. */
const FIRST = 200;
const PAGE = 1000;

/** So many documents are kept by the page; who has more searches by question. */
const MOST = 200_000;

/** Pages with documents at work that one refresh reads again. */
const REFRESHED = 3;

/** How often a list that grows is shown anew while it is read, in milliseconds. */
const SHOWN_MS = 400;

/** A stretch of the list, as it was last read. */
interface Part {
  /** The id of the document before it. */
  after: string | undefined;
  data: Document[];
}

/**
 * All documents of one knowledge base, read page by page. A refresh reads only
 * the pages that can have changed: those with documents at work, and the end.
 */
export class Documents {
  list = $state.raw<Document[]>([]);
  loaded = $state(false);
  /** There are more to be read. */
  reading = $state(false);
  problem = $state("");
  #parts: Part[] = [];
  #deleted = new Set<string>();
  #turn = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #shownAt = 0;

  constructor(readonly kb: string) {}

  /** Says whether the server is still at work on any of them. */
  readonly busy = $derived(this.list.some(working));

  /** Reads what may have changed; one at a time, and once more for all that ask meanwhile. */
  refresh(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  close(): void {
    this.#closed = true;
  }

  async remove(id: string): Promise<void> {
    await deleteDocument(this.kb, id);
    this.#deleted.add(id);
    this.#show();
  }

  /** Puts a document that was changed in the place of what was known of it. */
  put(changed: Document): void {
    for (const part of this.#parts) part.data = part.data.map((document) => (document.id === changed.id ? changed : document));
    this.#show();
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        await this.#readBusy();
        await this.#readEnd();
        this.problem = "";
      } catch (error) {
        this.problem = describe(error);
      } finally {
        this.reading = false;
        this.loaded = true;
        this.#show();
      }
    }
  }

  async #readBusy(): Promise<void> {
    const busy = this.#parts.slice(0, -1).filter((part) => part.data.some(working));
    const turn = busy.length > REFRESHED ? this.#turn++ % busy.length : 0;
    for (const part of [...busy.slice(turn), ...busy.slice(0, turn)].slice(0, REFRESHED)) {
      const last = part.data.at(-1)!.id;
      const { data } = await listDocuments(this.kb, part.after, PAGE);
      part.data = data.filter(({ id }) => id <= last); // where some were deleted, it reaches into the next part
    }
  }

  async #readEnd(): Promise<void> {
    const last = this.#parts.pop();
    let after = last?.after;
    let limit = last && last.data.length > FIRST ? PAGE : FIRST;
    for (;;) {
      const { data, next_cursor } = await listDocuments(this.kb, after, limit).catch((error: unknown) => {
        if (last && this.#parts.at(-1)?.after !== last.after) this.#parts.push(last);
        throw error;
      });
      this.#parts.push({ after, data });
      const count = this.#parts.reduce((sum, part) => sum + part.data.length, 0);
      if (!next_cursor || this.#closed || count >= MOST) return;
      after = next_cursor;
      limit = PAGE;
      this.reading = true;
      this.loaded = true;
      if (performance.now() - this.#shownAt > SHOWN_MS) this.#show();
    }
  }

  #show(): void {
    this.list = this.#parts.flatMap((part) => part.data).filter(({ id }) => !this.#deleted.has(id));
    this.#shownAt = performance.now();
  }
}

const working = ({ status }: Document) => status === "queued" || status === "running";
