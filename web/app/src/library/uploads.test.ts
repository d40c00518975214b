import { beforeEach, expect, test, vi } from "vitest";
import * as client from "../api/client";
import { ApiError } from "../api/problem";
import type { Job, SubmittedDocument } from "../api/types";
import { uploadFiles } from "../api/upload";
import { ended, type Upload, Uploads } from "./uploads.svelte";

vi.mock("../api/client");
vi.mock("../api/upload");

const send = vi.mocked(uploadFiles);

const job = (id: string, fields: Partial<Job> = {}): Job => ({ id, kind: "ingest", status: "running", done: 0, total: 0, ...fields });
const file = (path: string, size = 4) => ({ file: new File(["x".repeat(size)], path.split("/").at(-1)!), path });
const numberOf = (path: string) => path.replace(/\D/g, "");
const submitted = (path: string): SubmittedDocument => ({ id: `doc_${numberOf(path)}`, name: path, status: "queued", job_id: `job_${numberOf(path)}` });

/** What the server says of each job, in the order it is asked; the last for good. */
let jobs: Map<string, (Job | undefined)[]>;
let settled: string[];
let uploads: Uploads;

beforeEach(() => {
  vi.resetAllMocks();
  jobs = new Map();
  settled = [];
  const state = (id: string) => {
    const states = jobs.get(id) ?? [job(id, { status: "ready" })];
    return states.length > 1 ? states.shift() : states[0];
  };
  const reader = {
    one: async (id: string) => state(id),
    after: async (id: string) => ({ data: [...jobs.keys()].filter((other) => other > id).flatMap((other) => state(other) ?? []) }),
  };
  const pause = () => new Promise<void>((resolve) => void setImmediate(resolve));
  uploads = new Uploads((kb) => settled.push(kb), pause, reader);
  send.mockImplementation(async (_kb, files) => files.map(({ path }) => submitted(path)));
});

const states = () => uploads.of("kb_1").map(({ path, state, message }) => [path, state, message]);
const over = () => vi.waitFor(() => expect(uploads.of("kb_1").every(ended)).toBe(true));
const sent = () => send.mock.calls.map(([, files]) => files.map(({ path }) => path));

test("a file is sent, followed and ready", async () => {
  const seen: Partial<Upload>[] = [];
  const look = () => seen.push({ ...uploads.of("kb_1")[0]! });
  send.mockImplementation(async (_kb, files, { onProgress }) => {
    onProgress(2, 4);
    look();
    return files.map(({ path }) => submitted(path));
  });
  jobs.set("job_1", [job("job_1", { stage: "embed", done: 1, total: 2 }), job("job_1", { status: "ready" })]);
  uploads.add("kb_1", [file("notes/1.md")]);
  await over();
  expect(seen).toMatchObject([{ state: "sending", sent: 0.5 }]);
  expect(uploads.of("kb_1")).toMatchObject([{ path: "notes/1.md", bytes: 4, state: "ready", message: "", file: undefined }]);
  expect(settled).toContain("kb_1");
});

test("small files share requests, two at a time; long files and archives go alone", async () => {
  let open = 0;
  let most = 0;
  send.mockImplementation(async (_kb, files) => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    return files.map(({ path }) => submitted(path));
  });
  const small = Array.from({ length: 120 }, (_, i) => file(`s${i}.md`));
  uploads.add("kb_1", [...small, file("a500.ZIP"), file("b501.md"), { ...file("c502.pdf"), file: { size: 20_000_000 } as File }, file("d503.md")]);
  await over();
  expect(sent().map((batch) => batch.length)).toEqual([50, 50, 20, 1, 1, 1, 1]);
  expect(most).toBe(2);
});

test("failures are told in the server's words; one refused file does not fail its neighbours", async () => {
  send.mockImplementation(async (_kb, files) => {
    if (files.some(({ path }) => path === "2.bin")) throw new ApiError("2.bin: larger than 100 MB", 413);
    return files.map(({ path }) => (path === "3.md" ? { name: path, id: "", status: "failed", error: "3.md: no room" } : submitted(path)));
  });
  jobs.set("job_1", [job("job_1", { status: "failed", error: "no text found" })]);
  uploads.add("kb_1", ["1.pdf", "2.bin", "3.md", "4.md"].map((path) => file(path)));
  await over();
  expect(states()).toEqual([
    ["1.pdf", "failed", "no text found"],
    ["2.bin", "failed", "2.bin: larger than 100 MB"],
    ["3.md", "failed", "3.md: no room"],
    ["4.md", "ready", ""],
  ]);
});

test("a server that does not answer is asked again with the same key, and given up in the end", async () => {
  send.mockRejectedValueOnce(new ApiError("away", 0)).mockRejectedValueOnce(new ApiError("busy", 503));
  uploads.add("kb_1", [file("1.md")]);
  await over();
  expect(states()).toEqual([["1.md", "ready", ""]]);
  expect(new Set(send.mock.calls.map(([, , { idempotencyKey }]) => idempotencyKey)).size).toBe(1);

  send.mockRejectedValue(new ApiError("away", 0));
  uploads.add("kb_1", [file("2.md")]);
  await over();
  expect(states()[1]).toEqual(["2.md", "failed", "away"]);
  expect(send).toHaveBeenCalledTimes(3 + 5);
});

test("a duplicate says so and is not followed; a new revision says so too", async () => {
  send.mockResolvedValueOnce([
    { ...submitted("1.md"), duplicate_of: "doc_0" },
    { ...submitted("2.md"), revision: 3 },
  ]);
  uploads.add("kb_1", [file("1.md"), file("2.md")]);
  await over();
  expect(states()).toEqual([
    ["1.md", "duplicate", "This file is here already; it was not added again."],
    ["2.md", "ready", "Revision 3 of a file that was here"],
  ]);
});

test("the files of an archive are listed with it", async () => {
  send.mockResolvedValueOnce([
    { ...submitted("1.md"), path: "a.zip/1.md" },
    { name: "2.exe", id: "", status: "failed", path: "a.zip/2.exe", error: "is a link" },
  ]);
  uploads.add("kb_1", [file("a.zip")]);
  await over();
  expect(states()).toEqual([
    ["a.zip", "ready", "2 files were taken from it."],
    ["a.zip/1.md", "ready", ""],
    ["a.zip/2.exe", "failed", "is a link"],
  ]);
});

test("what waits is taken back, what is worked on is cancelled by the server", async () => {
  const cancel = vi.mocked(client.cancelJob).mockImplementation(async (id) => job(id, { status: "cancelled" }));
  let release = () => {};
  send.mockImplementation(async (_kb, files) => {
    await new Promise<void>((resolve) => (release = resolve));
    return files.map(({ path }) => submitted(path));
  });
  jobs.set("job_1", [job("job_1")]);
  uploads.add("kb_1", [file("1.md")]);
  const [upload] = uploads.of("kb_1");
  await uploads.cancel(upload!); // while it is being sent
  expect(states()).toEqual([["1.md", "cancelled", "Cancelled."]]);
  release();
  await vi.waitFor(() => expect(cancel).toHaveBeenCalledWith("job_1"));
  await over();
  expect(states()).toEqual([["1.md", "cancelled", "Cancelled."]]);
});

test("what failed is tried again: by the server where it has the file, else it is sent again", async () => {
  const retry = vi.mocked(client.retryJob).mockImplementation(async (id) => job(id, { status: "queued" }));
  send.mockRejectedValueOnce(new ApiError("no room", 507));
  jobs.set("job_2", [job("job_2", { status: "failed", error: "broken" }), job("job_2", { status: "ready" })]);
  uploads.add("kb_1", [file("1.md")]);
  await over();
  uploads.add("kb_1", [file("2.md")]);
  await over();
  expect(states().map(([, state]) => state)).toEqual(["failed", "failed"]);
  await uploads.retryFailed("kb_1");
  await over();
  expect(states().map(([, state]) => state)).toEqual(["ready", "ready"]);
  expect(retry).toHaveBeenCalledExactlyOnceWith("job_2");
});

test("a document that is deleted meanwhile, and clearing", async () => {
  jobs.set("job_1", [undefined]);
  jobs.set("job_2", [job("job_2")]);
  uploads.add("kb_1", [file("1.md"), file("2.md")]);
  uploads.add("kb_2", [file("3.md")]);
  await vi.waitFor(() => expect(uploads.of("kb_1")[0]!.state).toBe("failed"));
  expect(states()[0]).toEqual(["1.md", "failed", "The document was deleted before it was ready."]);
  uploads.clearEnded("kb_1");
  expect(uploads.of("kb_1").map(({ path }) => path)).toEqual(["2.md"]);
  expect(uploads.of("kb_2")).toHaveLength(1);
  uploads.close();
});
