import type { Document } from "../api/types";

/** Where a document came from, with the folders it was uploaded with. */
export const pathOf = (document: Document): string => document.path || document.name;

/** What there is to say of a document in its row, the most important first. */
export function noteOf(document: Document): string {
  const notes = [document.error ?? ""];
  if (document.pending_revision && !document.error) notes.push(`revision ${document.pending_revision.revision} is being made; until then this one is found`);
  const others = (document.sources ?? []).filter(({ path }) => path !== document.path);
  if (others.length > 0) notes.push(`also from ${others[0]!.path}${others.length > 1 ? ` and ${others.length - 1} more` : ""}`);
  return [...notes, ...(document.warnings ?? [])].filter(Boolean).join("; ");
}

export type SortKey = "added" | "name" | "status" | "pages" | "chunk_count" | "bytes";

export interface Choice {
  /** Words that all have to stand in the path or title, in any case. */
  search: string;
  status: Document["status"] | "";
  /** "" for all, else "a/b/". */
  folder: string;
  sort: SortKey;
  descending: boolean;
}

/** The documents that were chosen, in the wanted order; equal ones as they came. */
export function choose(documents: Document[], choice: Choice): Document[] {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = documents.filter((document) => {
    if (choice.status && document.status !== choice.status) return false;
    const path = pathOf(document);
    if (!path.startsWith(choice.folder)) return false;
    const text = words.length > 0 ? `${path}\n${document.title ?? ""}`.toLowerCase() : "";
    return words.every((word) => text.includes(word));
  });
  if (choice.sort === "added") return choice.descending ? found.reverse() : found;
  // Keys first: comparing 100,000 names by a collator takes most of a second.
  const keyed = found.map((document) => ({ document, key: keyOf(document, choice.sort) }));
  const sign = choice.descending ? -1 : 1;
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0));
  return keyed.map(({ document }) => document);
}

function keyOf(document: Document, sort: SortKey): string | number {
  switch (sort) {
    case "name":
      return pathOf(document).toLowerCase();
    case "status":
      return document.status;
    case "pages":
      return document.pages ?? 0;
    case "chunk_count":
      return document.chunk_count;
    default:
      return document.bytes;
  }
}

/** The folders in a folder, by name, with the number of documents below them. */
export function folders(documents: Document[], folder: string): { name: string; documents: number }[] {
  const counts = new Map<string, number>();
  for (const document of documents) {
    const path = pathOf(document);
    if (!path.startsWith(folder)) continue;
    const end = path.indexOf("/", folder.length);
    if (end < 0) continue;
    const name = path.slice(folder.length, end);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, documents]) => ({ name, documents })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
