import { ApiError, isAbort, problemFrom, UNREACHABLE } from "./problem";
import type { JobReader } from "../library/follower";
import type { Field } from "../search/filter";
import { type ServerEvent, serverEvents } from "./sse";
import type {
  AgentResult,
  AskRequest,
  Chunking,
  Document,
  EmbedderChange,
  Job,
  KnowledgeBase,
  List,
  Metadata,
  Preview,
  RetrievalSettings,
  RetrieveRequest,
  RetrieveResult,
  RunEvent,
  SubmittedDocument,
} from "./types";

const BASE = "/api/v1";

/** How long a call that is not a stream may take, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Documents and knowledge bases are read in pages of this many. */
export const PAGE_SIZE = 200;

export const knowledgeBasePath = (kb: string) => `${BASE}/knowledge-bases/${encodeURIComponent(kb)}`;
export const documentsPath = (kb: string) => `${knowledgeBasePath(kb)}/documents`;
export const documentPath = (kb: string, id: string) => `${documentsPath(kb)}/${encodeURIComponent(id)}`;

/**
 * The address of a document as it was uploaded: shown by the browser where the
 * server holds that safe, at a page where the reader knows pages; else a download.
 */
export function originalPath(kb: string, id: string, page?: number): string {
  return `${documentPath(kb, id)}/content?disposition=inline${page ? `#page=${page}` : ""}`;
}

export interface KnowledgeBaseChange {
  name?: string;
  description?: string;
  chunking?: Chunking;
  retrieval?: RetrievalSettings;
}

export async function listKnowledgeBases(): Promise<KnowledgeBase[]> {
  const all: KnowledgeBase[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await list<KnowledgeBase>(`${BASE}/knowledge-bases`, cursor);
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor);
  return all;
}

export function createKnowledgeBase(name: string, description: string): Promise<KnowledgeBase> {
  return json("POST", `${BASE}/knowledge-bases`, { name, description });
}

export function updateKnowledgeBase(kb: string, change: KnowledgeBaseChange): Promise<KnowledgeBase> {
  return json("PATCH", knowledgeBasePath(kb), change);
}

/** Shows how a file would be cut: `limit` chunks from `offset` on. Nothing is stored. */
export async function preview(kb: string, file: File, chunking: Chunking, offset: number, limit: number, signal: AbortSignal): Promise<Preview> {
  const body = new FormData();
  body.append("chunking", JSON.stringify(chunking));
  body.append("file", file, file.name);
  const response = await send("POST", `${knowledgeBasePath(kb)}/preview?limit=${limit}&offset=${offset}`, { body, signal });
  return (await response.json()) as Preview;
}

export async function retrieve(request: RetrieveRequest, signal: AbortSignal): Promise<RetrieveResult> {
  return (await (await send("POST", `${BASE}/retrieve`, { body: request, signal })).json()) as RetrieveResult;
}

const embedderPath = (kb: string) => `${knowledgeBasePath(kb)}/embedder`;

/** How the change of a knowledge base's embedder stands; undefined where there is none. */
export async function embedderChange(kb: string): Promise<EmbedderChange | undefined> {
  try {
    return await json<EmbedderChange>("GET", embedderPath(kb));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

export function changeEmbedder(kb: string, request: { embedder: string; auto: boolean; compare: boolean }): Promise<EmbedderChange> {
  return json("POST", embedderPath(kb), request);
}

export function switchEmbedder(kb: string): Promise<EmbedderChange> {
  return json("POST", `${embedderPath(kb)}/switch`);
}

export function rollBackEmbedder(kb: string): Promise<EmbedderChange> {
  return json("POST", `${embedderPath(kb)}/rollback`);
}

/** Gives up the vectors that are not searched; answers how it stands then. */
export async function discardEmbedder(kb: string): Promise<EmbedderChange | undefined> {
  await call("POST", `${embedderPath(kb)}/discard`);
  return embedderChange(kb);
}

/** What there is to filter a knowledge base by. */
export async function metadataFields(kb: string): Promise<Field[]> {
  return (await json<{ fields: Field[] }>("GET", `${knowledgeBasePath(kb)}/metadata`)).fields;
}

export async function deleteKnowledgeBase(kb: string): Promise<void> {
  await call("DELETE", knowledgeBasePath(kb));
}

export function listDocuments(kb: string, cursor?: string | null, limit = PAGE_SIZE): Promise<List<Document>> {
  return list<Document>(documentsPath(kb), cursor, limit);
}

/** Has the server fetch a URL; what it becomes is known at once. */
export async function addAddress(kb: string, url: string): Promise<SubmittedDocument | undefined> {
  return (await json<{ documents: SubmittedDocument[] }>("POST", documentsPath(kb), { url })).documents[0];
}

export function getDocument(kb: string, id: string): Promise<Document> {
  return json("GET", documentPath(kb, id));
}

export function updateDocument(kb: string, id: string, change: { title?: string; metadata?: Metadata }): Promise<Document> {
  return json("PATCH", documentPath(kb, id), change);
}

export async function deleteDocument(kb: string, id: string): Promise<void> {
  await call("DELETE", documentPath(kb, id));
}

const jobPath = (id: string) => `${BASE}/jobs/${encodeURIComponent(id)}`;

/** Reads jobs, oldest first; a cursor is the id of the job before. */
export const jobReader: JobReader = {
  async one(id) {
    try {
      return await json<Job>("GET", jobPath(id));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  },
  after: (id) => list<Job>(`${BASE}/jobs`, id),
};

export function cancelJob(id: string): Promise<Job> {
  return json("POST", `${jobPath(id)}/cancel`);
}

/** Queues every failed job of a knowledge base again and returns how many. */
export async function retryFailedJobs(kb: string): Promise<number> {
  return (await json<{ retried: number }>("POST", `${BASE}/jobs/retry`, { knowledge_base: kb })).retried;
}

export function retryJob(id: string): Promise<Job> {
  return json("POST", `${jobPath(id)}/retry`);
}

/** What POST /ask streams: events as they happen, then one result. */
export type AskEvent = { type: "event"; event: RunEvent } | { type: "result"; result: AgentResult };

/**
 * Asks a question. An answer that ends without a result is an error, and so is
 * an error event, which is thrown at the end: what the run had come to by then
 * may follow it as a result.
 */
export async function* ask(request: AskRequest, signal: AbortSignal): AsyncGenerator<AskEvent> {
  const response = await send("POST", `${BASE}/ask`, {
    accept: "text/event-stream, application/json",
    body: { ...request, stream: true },
    signal,
  });
  let problem: ApiError | undefined;
  for await (const { event, data } of events(response)) {
    if (event === "result") {
      yield { type: "result", result: withLists(JSON.parse(data) as AgentResult) };
      if (problem) throw problem;
      return;
    }
    if (event === "error") problem = problemFrom(response.status, data);
    if (event === "error" || !data.startsWith("{")) continue; // "[DONE]" and the like
    const parsed = JSON.parse(data) as Partial<RunEvent>;
    yield { type: "event", event: { ...parsed, kind: parsed.kind ?? event } };
  }
  throw problem ?? new ApiError("The connection ended before the answer was complete.", 0);
}

/** A part of a document's text. */
export interface TextPart {
  bytes: Uint8Array;
  /** Where the part begins in the text, in bytes. */
  offset: number;
  /** The length of the whole text, in bytes. */
  total: number;
}

/**
 * Reads about the bytes from..to of a document's normalised text. A server
 * that does not know ranges sends all of it, which is as good.
 */
export async function documentText(kb: string, id: string, from: number, to: number, signal: AbortSignal): Promise<TextPart> {
  const response = await send("GET", `${documentPath(kb, id)}/text`, {
    accept: "text/plain",
    headers: { Range: `bytes=${Math.max(0, from)}-${Math.max(0, from, to - 1)}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "");
  if (response.status === 206 && range) return { bytes, offset: Number(range[1]), total: Number(range[2]) };
  return { bytes, offset: 0, total: bytes.length };
}

interface SendOptions {
  accept?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function send(method: string, path: string, options: SendOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: options.accept ?? "application/json", ...options.headers };
  const init: RequestInit = { method, headers, signal: options.signal ?? AbortSignal.timeout(TIMEOUT_MS) };
  if (options.body instanceof FormData) {
    init.body = options.body; // the browser writes its type, with the boundary
  } else if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error instanceof TypeError) throw new ApiError(UNREACHABLE, 0);
    throw error;
  }
  if (!response.ok) throw problemFrom(response.status, await response.text().catch(() => ""));
  return response;
}

async function call(method: string, path: string, body?: unknown): Promise<Response> {
  return send(method, path, body === undefined ? {} : { body });
}

async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await (await call(method, path, body)).json()) as T;
}

async function list<T>(path: string, cursor?: string | null, limit = PAGE_SIZE): Promise<List<T>> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor ? { cursor } : {}) });
  const page = await json<List<T>>("GET", `${path}?${query}`);
  return { ...page, data: page.data ?? [] };
}

async function* events(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) throw new ApiError("The server answered without a body.", response.status);
  try {
    yield* serverEvents(response.body);
  } catch (error) {
    if (isAbort(error) || error instanceof ApiError || error instanceof RangeError) throw error;
    throw new ApiError("The connection to the server was lost.", 0);
  }
}

// Go writes a nil slice as null.
function withLists(result: AgentResult): AgentResult {
  return {
    ...result,
    citations: result.citations ?? [],
    closest: result.closest ?? [],
    degraded: result.degraded ?? [],
    steps: (result.steps ?? []).map((step) => ({ ...step, tool_calls: step.tool_calls ?? [] })),
  };
}
