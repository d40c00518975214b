import { beforeEach, expect, test, vi } from "vitest";
import * as client from "../api/client";
import { ApiError } from "../api/problem";
import type { Job, SubmittedDocument } from "../api/types";
import { uploadFile } from "../api/upload";
import { Uploads } from "./uploads.svelte";

vi.mock("../api/client");
vi.mock("../api/upload");

const jobEvents = vi.mocked(client.jobEvents);
const getJob = vi.mocked(client.getJob);
const send = vi.mocked(uploadFile);

const submitted: SubmittedDocument = { id: "doc_1", name: "a.md", status: "queued", job_id: "job_1" };
const job = (fields: Partial<Job>): Job => ({ id: "job_1", kind: "ingest", status: "running", done: 0, total: 0, ...fields });
const file = (name: string) => new File(["text"], name);

async function* stream(...jobs: (Job | Error)[]): AsyncGenerator<Job> {
  for (const job of jobs) {
    if (job instanceof Error) throw job;
    yield job;
  }
}

let settled: string[];
let pauses: number[];
let uploads: Uploads;

beforeEach(() => {
  vi.resetAllMocks();
  settled = [];
  pauses = [];
  uploads = new Uploads((kb) => settled.push(kb), async (ms) => void pauses.push(ms));
  send.mockResolvedValue(submitted);
});

test("a file is sent, followed and ready", async () => {
  send.mockImplementation(async (_kb, _file, { onProgress }) => {
    onProgress(0.5);
    expect(uploads.list[0]).toMatchObject({ state: "sending", sent: 0.5 });
    return submitted;
  });
  jobEvents.mockImplementation(async function* () {
    yield job({ stage: "embed", done: 1, total: 2 });
    expect(uploads.list[0]).toMatchObject({ state: "processing", sent: 1, job: { stage: "embed", done: 1 } });
    yield job({ status: "ready" });
  });
  await uploads.add("kb_1", [file("a.md")]);
  expect(uploads.list).toMatchObject([{ name: "a.md", bytes: 4, state: "ready", message: "" }]);
  expect(settled).toEqual(["kb_1", "kb_1"]);
  expect(pauses).toEqual([]);
});

test("failures are told in the server's words", async () => {
  send.mockRejectedValueOnce(new ApiError("a.bin: larger than 100 MB", 413));
  jobEvents.mockReturnValueOnce(stream(job({ status: "failed", error: "no text found" })));
  await uploads.add("kb_1", [file("a.bin"), file("b.pdf")]);
  expect(uploads.list.map(({ state, message }) => [state, message])).toEqual([
    ["failed", "a.bin: larger than 100 MB"],
    ["failed", "no text found"],
  ]);
});

test("a duplicate says so and is not followed", async () => {
  send.mockResolvedValueOnce({ ...submitted, duplicate_of: "doc_0" });
  await uploads.add("kb_1", [file("a.md")]);
  expect(uploads.list[0]).toMatchObject({ state: "duplicate", message: "This file is here already; it was not added again." });
  expect(jobEvents).not.toHaveBeenCalled();
});

test("a broken stream is taken up again, with longer pauses; a job that goes on resets them", async () => {
  jobEvents
    .mockReturnValueOnce(stream(new ApiError("lost", 0)))
    .mockReturnValueOnce(stream(new ApiError("lost", 0)))
    .mockReturnValueOnce(stream(job({}), new ApiError("lost", 0)))
    .mockReturnValueOnce(stream())
    .mockReturnValueOnce(stream(job({ status: "ready" })));
  getJob.mockResolvedValueOnce(job({}));
  await uploads.add("kb_1", [file("a.md")]);
  expect(uploads.list[0]!.state).toBe("ready");
  expect(pauses).toEqual([2000, 4000, 2000, 1000]);
});

test("a server that stays away is given up, and a deleted document at once", async () => {
  jobEvents.mockImplementation(() => stream(new ApiError("The server cannot be reached.", 0)));
  await uploads.add("kb_1", [file("a.md")]);
  expect(uploads.list[0]).toMatchObject({ state: "failed", message: "The server cannot be reached." });
  expect(pauses).toHaveLength(5);

  jobEvents.mockImplementation(() => stream(new ApiError("no such job", 404)));
  await uploads.add("kb_1", [file("b.md")]);
  expect(uploads.list[1]).toMatchObject({ state: "failed", message: "The document was deleted before it was ready." });
});

test("clearing leaves what still runs, and other knowledge bases", async () => {
  jobEvents.mockImplementation(() => stream(job({ status: "ready" })));
  await uploads.add("kb_1", [file("a.md")]);
  await uploads.add("kb_2", [file("b.md")]);
  uploads.clearEnded("kb_1");
  expect(uploads.list.map((upload) => upload.name)).toEqual(["b.md"]);
});
