import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError, UNREACHABLE } from "./problem";
import { uploadFiles } from "./upload";

/** As much of XMLHttpRequest as an upload uses, played by hand. */
class FakeRequest {
  static last: FakeRequest;
  upload: { onprogress?: (event: Partial<ProgressEvent>) => void } = {};
  onload?: () => void;
  onerror?: () => void;
  onabort?: () => void;
  status = 0;
  responseText = "";
  opened: string[] = [];
  sent: FormData | undefined;

  constructor() {
    FakeRequest.last = this;
  }
  open(...args: string[]) {
    this.opened = args;
  }
  headers: Record<string, string> = {};
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  send(body: FormData) {
    this.sent = body;
  }
  abort() {
    this.onabort?.();
  }
  answer(status: number, body: unknown) {
    this.status = status;
    this.responseText = typeof body === "string" ? body : JSON.stringify(body);
    this.onload?.();
  }
}

let stop: AbortController;
let progress: number[][];

beforeEach(() => {
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  stop = new AbortController();
  progress = [];
});
afterEach(() => vi.unstubAllGlobals());

function upload() {
  const files = [
    { file: new File(["text"], "ü b.md"), path: "notes/ü b.md" },
    { file: new File(["more"], "c.md"), path: "c.md" },
  ];
  return uploadFiles("my kb", files, { signal: stop.signal, onProgress: (...sent) => progress.push(sent), idempotencyKey: "k1" });
}

test("sends each file as a part named by its path, and tells how much has left", async () => {
  const sent = upload();
  const request = FakeRequest.last;
  request.upload.onprogress!({ lengthComputable: true, loaded: 1, total: 4 });
  request.upload.onprogress!({ lengthComputable: false, loaded: 2, total: 0 });
  request.upload.onprogress!({ lengthComputable: true, loaded: 4, total: 4 });
  request.answer(202, { documents: [{ id: "doc_1", job_id: "job_1" }] });
  expect(await sent).toEqual([{ id: "doc_1", job_id: "job_1" }]);
  expect(progress).toEqual([
    [1, 4],
    [4, 4],
  ]);
  expect(request.opened).toEqual(["POST", "/api/v1/knowledge-bases/my%20kb/documents"]);
  expect(request.sent!.getAll("file").map((part) => (part as File).name)).toEqual(["notes/ü b.md", "c.md"]);
  expect(request.headers["Idempotency-Key"]).toBe("k1");
});

test("a refusal is the server's problem; a broken connection is told as such", async () => {
  let sent = upload();
  FakeRequest.last.answer(413, { title: "Too large", detail: "ü b.md: larger than 100 MB" });
  await expect(sent).rejects.toEqual(new ApiError("ü b.md: larger than 100 MB", 413));
  sent = upload();
  FakeRequest.last.onerror!();
  await expect(sent).rejects.toEqual(new ApiError(UNREACHABLE, 0));
  sent = upload();
  FakeRequest.last.answer(202, { documents: [] });
  await expect(sent).rejects.toThrow("named no document");
  sent = upload();
  FakeRequest.last.answer(200, "<html>");
  await expect(sent).rejects.toThrow();
});

test("stopping aborts it, also before it began", async () => {
  const sent = upload();
  stop.abort();
  await expect(sent).rejects.toMatchObject({ name: "AbortError" });
  await expect(upload()).rejects.toMatchObject({ name: "AbortError" });
});
