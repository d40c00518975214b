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

/** The documents of one knowledge base, as far as they were asked for. */
export class Documents {
  list = $state.raw<Document[]>([]);
  loaded = $state(false);
  problem = $state("");
  more = $state(false);
  #pages = 1;
  #latest = 0;

  constructor(readonly kb: string) {}

  /** Says whether the server is still at work on any of them. */
  get busy(): boolean {
    return this.list.some((document) => document.status === "queued" || document.status === "running");
  }

  async refresh(): Promise<void> {
    const turn = ++this.#latest;
    try {
      const all: Document[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < this.#pages; page++) {
        const { data, next_cursor } = await listDocuments(this.kb, cursor);
        all.push(...data);
        cursor = next_cursor;
        if (!cursor) break;
      }
      if (turn !== this.#latest) return;
      this.list = all;
      this.more = Boolean(cursor);
      this.problem = "";
    } catch (error) {
      if (turn === this.#latest) this.problem = describe(error);
    } finally {
      if (turn === this.#latest) this.loaded = true;
    }
  }

  showMore(): Promise<void> {
    this.#pages++;
    return this.refresh();
  }

  async remove(id: string): Promise<void> {
    await deleteDocument(this.kb, id);
    this.list = this.list.filter((document) => document.id !== id);
    await this.refresh();
  }
}
