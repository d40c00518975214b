import type { KnowledgeBase } from "../api/types";

const KEY = "ragagent.scope.left-out";

/**
 * Which knowledge bases are asked: all of them but those left out, so that a
 * new one takes part at once. Kept in this browser where it allows that.
 */
export class Scope {
  #leftOut = $state.raw<ReadonlySet<string>>(load());

  chosen(bases: KnowledgeBase[]): KnowledgeBase[] {
    return bases.filter((kb) => this.has(kb.id));
  }

  has(id: string): boolean {
    return !this.#leftOut.has(id);
  }

  set(id: string, takesPart: boolean): void {
    const next = new Set(this.#leftOut);
    if (takesPart) next.delete(id);
    else next.add(id);
    this.#leftOut = next;
    try {
      localStorage.setItem(KEY, JSON.stringify([...next]));
    } catch {
      // Storage is switched off: the choice lasts as long as the page.
    }
  }
}

function load(): ReadonlySet<string> {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : []);
  } catch {
    return new Set();
  }
}
