import { cancelJob, jobReader, retryJob } from "../api/client";
import { ApiError, describe, isAbort } from "../api/problem";
import type { Job, SubmittedDocument } from "../api/types";
import { type Outgoing, uploadFiles } from "../api/upload";
import { coalesce } from "./coalesce";
import { Follower, type JobReader } from "./follower";

/** One file on its way into a knowledge base. */
export interface Upload {
  readonly key: number;
  readonly kb: string;
  readonly path: string;
  readonly bytes: number;
  /** Kept until the server has it. */
  file?: File | undefined;
  state: "waiting" | "sending" | "processing" | "ready" | "duplicate" | "failed" | "cancelled";
  /** How much was sent, 0 to 1. */
  sent: number;
  jobId?: string | undefined;
  /** What the server does with it; set while it is processed. */
  job?: Job | undefined;
  /** Why it failed, of what it is a duplicate, or what was made of it. */
  message: string;
}

export type UploadState = Upload["state"];

export const ended = (upload: Upload): boolean => !["waiting", "sending", "processing"].includes(upload.state);

/** A request takes this many files of this many bytes, at most; a longer file goes alone. */
const BATCH_FILES = 50;
const BATCH_BYTES = 16_000_000;

/** Requests under way at a time. Browsers open six connections to a server, and an answer needs one of them. */
const SENDING = 2;

/** How often a request is sent again when the server did not answer or was too busy. */
const RETRIES = 4;

/** How often the page looks at the list, at most. */
const SHOWN_MS = 150;

const ARCHIVE = /\.(zip|tar|tgz|tar\.gz|gz)$/i;

const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * The uploads of this page, any number of them: they are plain objects, and
 * `version` tells those who show them that some have changed.
 */
export class Uploads {
  version = $state(0);
  /** Why the server does not tell how it goes on; "" while it does. */
  problem = $state("");
  #all: Upload[] = [];
  #queue: Upload[] = [];
  #head = 0;
  #sending = 0;
  #keys = 0;
  #stop = new AbortController();
  #byJob = new Map<string, Upload>();
  #follower: Follower;
  #show = coalesce(SHOWN_MS, () => void this.version++);

  /** @param settled is told the knowledge base whenever one of its documents came in or ended. */
  constructor(
    private readonly settled: (kb: string) => void,
    private readonly pause: (ms: number) => Promise<void> = later,
    jobs: JobReader = jobReader,
  ) {
    const lost = (error: unknown) => (this.problem = error === "" ? "" : describe(error));
    this.#follower = new Follower(jobs, (id, job) => this.#told(id, job), lost, pause);
  }

  /** The uploads of one knowledge base, in the order they came. */
  of(kb: string): Upload[] {
    void this.version;
    return this.#all.filter((upload) => upload.kb === kb);
  }

  add(kb: string, files: Iterable<Outgoing>): void {
    for (const { file, path } of files) {
      const upload: Upload = { key: ++this.#keys, kb, path, bytes: file.size, file, state: "waiting", sent: 0, message: "" };
      this.#all.push(upload);
      this.#queue.push(upload);
    }
    this.#show();
    this.#pump();
  }

  /** Takes back what was not sent, and has the server stop what was. */
  async cancel(upload: Upload): Promise<void> {
    if (ended(upload)) return;
    const job = upload.jobId;
    if (upload.state === "processing" && job) {
      try {
        this.#told(job, await cancelJob(job));
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409)) this.problem = describe(error); // it ended meanwhile
      }
      return;
    }
    // What is being sent is cancelled when its answer is there.
    this.#end(upload, "cancelled", "Cancelled.");
  }

  async cancelAll(kb: string): Promise<void> {
    const open = this.#all.filter((upload) => upload.kb === kb && !ended(upload));
    for (const upload of open.filter((u) => u.state !== "processing")) void this.cancel(upload);
    // The last first: the server does not begin one that goes next.
    for (const upload of open.reverse()) await this.cancel(upload);
  }

  /** Has a failed or cancelled file tried again: by the server where it has it, else it is sent again. */
  async retry(upload: Upload): Promise<void> {
    if (upload.state !== "failed" && upload.state !== "cancelled") return;
    upload.message = "";
    upload.job = undefined;
    if (upload.jobId) {
      try {
        upload.job = await retryJob(upload.jobId);
        upload.state = "processing";
        this.#byJob.set(upload.jobId, upload);
        this.#follower.follow(upload.jobId);
      } catch (error) {
        this.#end(upload, "failed", describe(error));
      }
    } else if (upload.file) {
      upload.state = "waiting";
      upload.sent = 0;
      this.#queue.push(upload);
      this.#pump();
    }
    this.#show();
  }

  async retryFailed(kb: string): Promise<void> {
    for (const upload of this.#all.filter((u) => u.kb === kb && u.state === "failed")) await this.retry(upload);
  }

  clearEnded(kb: string): void {
    this.#all = this.#all.filter((upload) => upload.kb !== kb || !ended(upload));
    this.version++;
  }

  /** Lets everything go; the server finishes what it has. */
  close(): void {
    this.#stop.abort();
    this.#follower.stop();
  }

  #pump(): void {
    while (this.#sending < SENDING && !this.#stop.signal.aborted) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      this.#sending++;
      void this.#deliver(batch).finally(() => {
        this.#sending--;
        this.#pump();
      });
    }
  }

  /** Small files of one knowledge base that lie next to each other; archives and long files go alone. */
  #nextBatch(): Upload[] {
    const batch: Upload[] = [];
    let bytes = 0;
    for (; this.#head < this.#queue.length && batch.length < BATCH_FILES; this.#head++) {
      const upload = this.#queue[this.#head]!;
      if (upload.state !== "waiting") continue;
      const alone = ARCHIVE.test(upload.path);
      const fits = upload.kb === batch[0]?.kb && bytes + upload.bytes <= BATCH_BYTES && !alone;
      if (batch.length > 0 && !fits) break;
      batch.push(upload);
      bytes += upload.bytes;
      if (alone) {
        this.#head++;
        break;
      }
    }
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    return batch;
  }

  async #deliver(batch: Upload[]): Promise<void> {
    for (const upload of batch) upload.state = "sending";
    this.#show();
    try {
      const answers = await this.#send(batch);
      for (const [upload, documents] of pair(batch, answers)) this.#taken(upload, documents);
      this.settled(batch[0]!.kb);
    } catch (error) {
      const left = batch.filter((upload) => upload.state === "sending");
      // One of them was refused, and with it the others.
      if (batch.length > 1 && error instanceof ApiError && error.status >= 400 && error.status < 500) {
        for (const upload of left) await this.#deliver([upload]);
        return;
      }
      for (const upload of left) this.#end(upload, "failed", isAbort(error) ? "The upload was stopped." : describe(error));
    }
  }

  async #send(batch: Upload[]): Promise<SubmittedDocument[]> {
    const bytes = batch.reduce((sum, upload) => sum + upload.bytes, 0);
    const idempotencyKey = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    const onProgress = (sent: number, total: number) => {
      let left = (sent / total) * bytes;
      for (const upload of batch) {
        upload.sent = upload.bytes > 0 ? Math.min(1, left / upload.bytes) : 1;
        left = Math.max(0, left - upload.bytes);
      }
      this.#show();
    };
    const files = batch.map(({ file, path }) => ({ file: file!, path }));
    for (let attempt = 0; ; attempt++) {
      try {
        return await uploadFiles(batch[0]!.kb, files, { signal: this.#stop.signal, onProgress, idempotencyKey });
      } catch (error) {
        const passing = error instanceof ApiError && [0, 429, 502, 503, 504].includes(error.status);
        if (!passing || attempt === RETRIES) throw error;
        await this.pause(1000 * 2 ** attempt);
      }
    }
  }

  /** Notes what the server made of a file: a document, or of an archive several. */
  #taken(upload: Upload, documents: SubmittedDocument[]): void {
    upload.file = undefined;
    const [document] = documents;
    if (!document) {
      this.#end(upload, "failed", "The server did not say what became of this file.");
    } else if (documents.length === 1) {
      this.#submitted(upload, document);
    } else {
      for (const entry of documents) {
        const made: Upload = { ...upload, key: ++this.#keys, path: entry.path ?? entry.name, bytes: entry.bytes ?? 0, state: "sending", sent: 1 };
        this.#all.push(made);
        this.#submitted(made, entry);
      }
      this.#end(upload, "ready", `${documents.length} files were taken from it.`);
    }
  }

  #submitted(upload: Upload, document: SubmittedDocument): void {
    if (document.duplicate_of) {
      this.#end(upload, "duplicate", "This file is here already; it was not added again.");
    } else if (!document.job_id) {
      this.#end(upload, "failed", document.error || "The server refused this file and did not say why.");
    } else {
      const cancelled = upload.state === "cancelled";
      upload.jobId = document.job_id;
      upload.sent = 1;
      upload.state = "processing";
      if ((document.revision ?? 0) > 1) upload.message = `Revision ${document.revision} of a file that was here`;
      this.#byJob.set(document.job_id, upload);
      this.#follower.follow(document.job_id);
      if (cancelled) void this.cancel(upload);
      this.#show();
    }
  }

  #told(id: string, job: Job | undefined): void {
    const upload = this.#byJob.get(id);
    if (!upload || upload.state !== "processing") return;
    upload.job = job;
    if (!job) {
      this.#end(upload, "failed", "The document was deleted before it was ready.");
    } else if (job.status === "ready") {
      this.#end(upload, "ready", upload.message);
    } else if (job.status === "failed") {
      this.#end(upload, "failed", job.error || "The server could not read this file and did not say why.");
    } else if (job.status === "cancelled") {
      this.#end(upload, "cancelled", job.error || "Cancelled.");
    }
    this.#show();
  }

  #end(upload: Upload, state: UploadState, message: string): void {
    upload.state = state;
    upload.message = message;
    if (upload.jobId) this.#byJob.delete(upload.jobId);
    this.#show();
    this.settled(upload.kb);
  }
}

/** Gives each file its answers: one, or where it was an archive those of its entries. */
function pair(batch: Upload[], answers: SubmittedDocument[]): [Upload, SubmittedDocument[]][] {
  if (batch.length === 1) return [[batch[0]!, answers]];
  if (batch.length === answers.length) return batch.map((upload, i) => [upload, [answers[i]!]]);
  let at = 0;
  return batch.map((upload) => {
    const mine: SubmittedDocument[] = [];
    for (; at < answers.length; at++) {
      const path = answers[at]!.path ?? answers[at]!.name;
      if (mine.length > 0 && !path.startsWith(`${upload.path}/`)) break;
      mine.push(answers[at]!);
    }
    return [upload, mine];
  });
}
