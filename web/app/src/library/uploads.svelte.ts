import { getJob, jobEvents } from "../api/client";
import { ApiError, describe, isAbort } from "../api/problem";
import type { Job, SubmittedDocument } from "../api/types";
import { uploadFile } from "../api/upload";
import { Gate } from "./gate";

/** One file on its way into a knowledge base. */
export interface Upload {
  readonly key: number;
  readonly kb: string;
  readonly name: string;
  readonly bytes: number;
  state: "waiting" | "sending" | "processing" | "ready" | "duplicate" | "failed";
  /** How much was sent, 0 to 1. */
  sent: number;
  /** What the server does with it; set while it is processed. */
  job?: Job;
  /** Why it failed, or of what it is a duplicate. */
  message: string;
}

export const ended = (upload: Upload): boolean => ["ready", "duplicate", "failed"].includes(upload.state);

/** Lost calls in a row after which a job is no longer followed. */
const MAX_LOST = 6;

/**
 * The uploads of this page. Browsers open six connections to a server and an
 * answer needs one of them, so two files are sent and two jobs followed at a
 * time, the others wait; the server takes jobs in the same order.
 */
export class Uploads {
  list = $state<Upload[]>([]);
  #sending = new Gate(2);
  #following = new Gate(2);
  #stop = new AbortController();
  #keys = 0;

  /** @param settled is told the knowledge base whenever one of its documents came in or ended. */
  constructor(
    private readonly settled: (kb: string) => void,
    private readonly pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  ) {}

  /** Takes files; returns when each of them has ended. */
  async add(kb: string, files: Iterable<File>): Promise<void> {
    const started = [...files].map((file) => {
      this.list.push({ key: ++this.#keys, kb, name: file.name, bytes: file.size, state: "waiting", sent: 0, message: "" });
      return this.#run(this.list.at(-1)!, file);
    });
    await Promise.all(started);
  }

  clearEnded(kb: string): void {
    this.list = this.list.filter((upload) => upload.kb !== kb || !ended(upload));
  }

  /** Lets everything go; the server finishes what it has. */
  close(): void {
    this.#stop.abort();
  }

  async #run(upload: Upload, file: File): Promise<void> {
    try {
      const document = await this.#sending.run(() => this.#send(upload, file));
      if (document.duplicate_of) {
        upload.state = "duplicate";
        upload.message = "This file is here already; it was not added again.";
      } else {
        this.settled(upload.kb);
        await this.#following.run(() => this.#follow(upload, document.job_id));
      }
    } catch (error) {
      upload.state = "failed";
      upload.message = isAbort(error) ? "The upload was stopped." : describe(error);
    }
    this.settled(upload.kb);
  }

  async #send(upload: Upload, file: File): Promise<SubmittedDocument> {
    upload.state = "sending";
    const document = await uploadFile(upload.kb, file, {
      signal: this.#stop.signal,
      onProgress: (fraction) => (upload.sent = fraction),
    });
    upload.sent = 1;
    upload.state = "processing";
    return document;
  }

  /** Follows a job to its end: by its stream, and where that breaks, by asking. */
  async #follow(upload: Upload, id: string): Promise<void> {
    let lost = 0;
    for (;;) {
      try {
        for await (const job of jobEvents(id, this.#stop.signal)) {
          lost = 0;
          if (this.#take(upload, job)) return;
        }
        if (this.#take(upload, await getJob(id))) return;
        lost = 0;
      } catch (error) {
        if (isAbort(error) || ++lost === MAX_LOST) throw error;
        if (error instanceof ApiError && error.status === 404) throw new Error("The document was deleted before it was ready.");
      }
      await this.pause(1000 * 2 ** lost);
    }
  }

  #take(upload: Upload, job: Job): boolean {
    upload.job = job;
    if (job.status === "ready") upload.state = "ready";
    if (job.status === "failed") {
      upload.state = "failed";
      upload.message = job.error || "The server could not read this file and did not say why.";
    }
    if (job.status === "cancelled") {
      upload.state = "failed";
      upload.message = "Cancelled.";
    }
    return ended(upload);
  }
}
