import type { Job, List } from "../api/types";

export interface JobReader {
  /** One job; undefined where there is none of that id any more. */
  one(id: string): Promise<Job | undefined>;
  /** The jobs behind that id, oldest first. */
  after(id: string): Promise<List<Job>>;
}

/** Requests of one look at the server. */
const BUDGET = 8;

/** Pauses between looks, in milliseconds: while jobs end, while nothing moves, and after lost calls at most. */
const BRISK_MS = 400;
const CALM_MS = 2000;
const LOST_MS = 30_000;

/**
 * Follows any number of jobs to their end with few requests. Jobs are listed
 * in the order they are worked on, so a look reads the list from the oldest
 * job that is followed, and no further than where jobs have not begun. A
 * stream for each would take the browser's six connections.
 */
export class Follower {
  #pending = new Set<string>();
  #looking = false;
  #stopped = false;
  #from = ""; // where the next look begins, where the last one's requests were used up

  /**
   * @param told gets each job that was seen; undefined where it is gone.
   * @param lost is told why the server does not answer, "" when it does again.
   */
  constructor(
    private readonly jobs: JobReader,
    private readonly told: (id: string, job: Job | undefined) => void,
    private readonly lost: (error: unknown) => void,
    private readonly pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  ) {}

  follow(id: string): void {
    this.#pending.add(id);
    if (!this.#looking && !this.#stopped) void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#pending.clear();
  }

  async #run(): Promise<void> {
    this.#looking = true;
    let failures = 0;
    while (this.#pending.size > 0 && !this.#stopped) {
      const before = this.#pending.size;
      try {
        await this.#look();
        if (failures > 0) this.lost("");
        failures = 0;
      } catch (error) {
        failures++;
        if (!this.#stopped) this.lost(error);
      }
      if (this.#pending.size === 0) break;
      const moved = this.#pending.size < before;
      await this.pause(failures > 0 ? Math.min(LOST_MS, 1000 * 2 ** failures) : moved ? BRISK_MS : CALM_MS);
    }
    this.#looking = false;
  }

  async #look(): Promise<void> {
    const ids = [...this.#pending].sort();
    let next = Math.max(0, ids.findIndex((id) => id >= this.#from));
    this.#from = "";
    for (let budget = BUDGET; next < ids.length; budget -= 2) {
      if (budget < 2) {
        this.#from = ids[next]!;
        return;
      }
      const first = ids[next]!;
      this.#take(first, await this.jobs.one(first));
      if (++next === ids.length) return;

      const page = await this.jobs.after(first);
      const seen = new Map(page.data.map((job) => [job.id, job]));
      const last = page.next_cursor ? (page.data.at(-1)?.id ?? first) : ids.at(-1)!;
      for (; next < ids.length && ids[next]! <= last; next++) this.#take(ids[next]!, seen.get(ids[next]!));
      if (page.data.length > 0 && page.data.every((job) => job.status === "queued")) return;
    }
  }

  #take(id: string, job: Job | undefined): void {
    if (this.#stopped || !this.#pending.has(id)) return;
    if (!job || ["ready", "failed", "cancelled"].includes(job.status)) this.#pending.delete(id);
    this.told(id, job);
  }
}
