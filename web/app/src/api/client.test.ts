import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ask, type AskEvent, createKnowledgeBase, documentText, jobReader, listDocuments, listKnowledgeBases, originalPath } from "./client";
import { ApiError, describe as describeError, problemFrom, UNREACHABLE } from "./problem";

const encode = (text: string) => new TextEncoder().encode(text);
const signal = new AbortController().signal;
const server = vi.fn<typeof fetch>();

beforeEach(() => vi.stubGlobal("fetch", server));
afterEach(() => server.mockReset());

const json = (value: unknown, init?: ResponseInit) => new Response(JSON.stringify(value), init);

function problem(status: number, value: unknown) {
  return json(value, { status, headers: { "Content-Type": "application/problem+json" } });
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(() => undefined, (error: unknown) => error);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

test("every page of knowledge bases is read, and a null list is an empty one", async () => {
  server.mockResolvedValueOnce(json({ data: [{ id: "a" }], next_cursor: "c/1" }));
  server.mockResolvedValueOnce(json({ data: null, next_cursor: null }));
  expect(await listKnowledgeBases()).toEqual([{ id: "a" }]);
  expect(server.mock.calls.map(([url]) => url)).toEqual([
    "/api/v1/knowledge-bases?limit=200",
    "/api/v1/knowledge-bases?limit=200&cursor=c%2F1",
  ]);
});

test("names go into an address escaped", async () => {
  server.mockResolvedValueOnce(json({ data: [] }));
  await listDocuments("a/b ü?");
  expect(server.mock.calls[0]![0]).toBe("/api/v1/knowledge-bases/a%2Fb%20%C3%BC%3F/documents?limit=200");
  expect(originalPath("k", "d#1", 12)).toBe("/api/v1/knowledge-bases/k/documents/d%231/content?disposition=inline#page=12");
});

test("a problem is told in the server's words", async () => {
  server.mockResolvedValueOnce(
    problem(422, { title: "Invalid", detail: "name: must not be empty", code: "invalid", errors: [{ field: "name", detail: "must not be empty" }] }),
  );
  const error = await failure(createKnowledgeBase("", ""));
  expect(error).toMatchObject({ status: 422, code: "invalid", message: "name: must not be empty" });
});

test.each([
  [500, "", "The server answered with status 500."],
  [502, "<html>Bad gateway</html>", "The server answered with status 502."],
  [413, "body too large\n", "body too large"],
  [400, "{}", "The server answered with status 400."],
  [400, '{"title":"Bad","errors":["x","x"]}', "Bad; x"],
  [400, '{"detail":"a: x\\nb: y","errors":[{"field":"a","detail":"x"},{"field":"b","detail":"y"}]}', "a: x\nb: y"],
  [400, '{"title":"Bad","errors":[{"field":"top_k","reason":"1..1000"},7]}', "Bad; top_k: 1..1000"],
])("status %i with body %j", (status, body, message) => {
  expect(problemFrom(status, body).message).toBe(message);
});

test("a server that is away is told as such", async () => {
  server.mockRejectedValueOnce(new TypeError("Failed to fetch"));
  expect(describeError(await failure(listKnowledgeBases()))).toBe(UNREACHABLE);
});

function stream(...pieces: (string | Error)[]) {
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else if (piece instanceof Error) controller.error(piece);
        else controller.enqueue(encode(piece));
      },
    }),
  );
}

test("asking streams events and ends with the result", async () => {
  server.mockResolvedValueOnce(
    stream(
      'event: run_start\ndata: {"id":"1"}\n\nevent: text_delta\ndata: {"kind":"text_de',
      'lta","text":"Hi"}\n\n: heartbeat\n\ndata: [DONE]\n\n',
      'event: result\ndata: {"answer":"Hi [1]","steps":[{"step":1,"tool_calls":null}],"citations":null,"degraded":null}\n\n',
    ),
  );
  expect(await all(ask({ question: "q", knowledge_bases: ["k"] }, signal))).toEqual<AskEvent[]>([
    { type: "event", event: { kind: "run_start", id: "1" } },
    { type: "event", event: { kind: "text_delta", text: "Hi" } },
    {
      type: "result",
      result: expect.objectContaining({ answer: "Hi [1]", citations: [], closest: [], degraded: [], steps: [{ step: 1, tool_calls: [] }] }),
    },
  ]);
  const [url, init] = server.mock.calls[0]!;
  expect(url).toBe("/api/v1/ask");
  expect(JSON.parse(init!.body as string)).toEqual({ question: "q", knowledge_bases: ["k"], stream: true });
});

test.each([
  ["an answer without a result", stream('event: text_delta\ndata: {"text":"Hi"}\n\n'), "The connection ended before the answer was complete."],
  ["a lost connection", stream('event: text_delta\ndata: {"text":"Hi"}\n\n', new TypeError("network error")), "The connection to the server was lost."],
  ["an error event", stream('event: error\ndata: {"status":502,"detail":"the model server is gone"}\n\n'), "the model server is gone"],
  ["a refusal", problem(404, { title: "Not found", detail: "no knowledge base k" }), "no knowledge base k"],
])("%s is an error", async (_, response, message) => {
  server.mockResolvedValueOnce(response);
  expect((await failure(all(ask({ question: "q", knowledge_bases: ["k"] }, signal)))).message).toBe(message);
});

test("a run that failed may still tell what it had come to", async () => {
  server.mockResolvedValueOnce(
    stream('event: error\ndata: {"detail":"the model server is gone"}\n\nevent: result\ndata: {"answer":"It sp","finished_reason":"error"}\n\n'),
  );
  const came: AskEvent[] = [];
  const error = await failure(
    (async () => {
      for await (const event of ask({ question: "q", knowledge_bases: ["k"] }, signal)) came.push(event);
    })(),
  );
  expect(error.message).toBe("the model server is gone");
  expect(came).toMatchObject([{ type: "result", result: { answer: "It sp" } }]);
});

test("a job that is gone is no failure; the list goes on behind a job", async () => {
  server.mockResolvedValueOnce(problem(404, { detail: "there is no job" }));
  expect(await jobReader.one("job_1")).toBeUndefined();
  server.mockResolvedValueOnce(problem(500, { detail: "broken" }));
  await expect(jobReader.one("job_1")).rejects.toThrow("broken");
  server.mockResolvedValueOnce(json({ data: null, next_cursor: null }));
  expect(await jobReader.after("job_1")).toEqual({ data: [], next_cursor: null });
  expect(server.mock.calls[2]![0]).toBe("/api/v1/jobs?limit=200&cursor=job_1");
});

test("a part of a text says where it lies; all of it is as good", async () => {
  server.mockResolvedValueOnce(new Response("cdef", { status: 206, headers: { "Content-Range": "bytes 2-5/26" } }));
  expect(await documentText("k", "d", 2, 6, signal)).toEqual({ bytes: encode("cdef"), offset: 2, total: 26 });
  expect(new Headers(server.mock.calls[0]![1]!.headers).get("Range")).toBe("bytes=2-5");
  server.mockResolvedValueOnce(new Response("索引"));
  expect(await documentText("k", "d", -10, 6, signal)).toEqual({ bytes: encode("索引"), offset: 0, total: 6 });
  expect(new Headers(server.mock.calls[1]![1]!.headers).get("Range")).toBe("bytes=0-5");
});
