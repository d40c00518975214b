import type { Job } from "../api/types";

const number = new Intl.NumberFormat("en");

export const count = (n: number): string => number.format(n);

/** "1 page", "1,923 pages". */
export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** 0 B, 999 B, 1.5 KB, 12 MB: powers of 1000, as file managers show. */
export function bytes(n: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (n >= 999.5 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit > 0 && n < 9.95 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

/** 12 ms, 3.4 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How long something will take, no more exactly than anyone can know. */
export function remaining(ms: number): string {
  if (ms < 5000) return "a few seconds left";
  if (ms < 55_000) return `about ${Math.ceil(ms / 5000) * 5} s left`;
  if (ms < 55 * 60_000) return `about ${Math.max(1, Math.round(ms / 60_000))} min left`;
  return `about ${Math.max(1, Math.round(ms / 3_600_000))} h left`;
}

/** What a job is doing, for people. */
export function jobProgress(job: Job): string {
  if (job.status === "queued") return "Waiting its turn";
  const stages: Record<string, string> = { fetch: "Fetching", parse: "Reading", chunk: "Cutting into passages", embed: "Embedding", index: "Indexing" };
  const parts = [stages[job.stage ?? ""] ?? "Working"];
  if (job.total > 0) parts.push(`${count(job.done)} of ${count(job.total)}`);
  if (job.eta_ms) parts.push(remaining(job.eta_ms));
  return parts.join(" · ");
}

/** "page 3", "pages 3–4", or "" where the format has no pages. */
export function pages(citation: { page_start?: number; page_end?: number }): string {
  const { page_start: first, page_end: last } = citation;
  if (!first) return "";
  return last && last > first ? `pages ${first}–${last}` : `page ${first}`;
}
