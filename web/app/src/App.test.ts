import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import App from "./App.svelte";
// Loaded on demand by the page; here before the clock of a test runs.
import "./library/Knowledge.svelte";
import "./search/Search.svelte";
import type { AgentResult, Citation, Document, KnowledgeBase } from "./api/types";

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(1)</script>';

const kb: KnowledgeBase = { id: "kb_1", name: "Filings", description: HOSTILE, embedder: "e", document_count: 1, chunk_count: 2 };
const other: KnowledgeBase = { ...kb, id: "kb_2", name: "Notes", description: "" };
const text = `検索 🎯 before. Boeing spent $2.9 billion. After ${HOSTILE}`;
const quote = "Boeing spent $2.9 billion.";
const start = new TextEncoder().encode(text.slice(0, text.indexOf(quote))).length;

const citation: Citation = {
  id: 1,
  document_id: "doc_1",
  document_name: `BOEING ${HOSTILE}.pdf`,
  knowledge_base: "Filings",
  chunk_id: "chk_1",
  page_start: 43,
  char_start: start,
  char_end: start + quote.length,
  quote,
  verified: true,
};

const result: AgentResult = {
  answer: `It spent **$2.9 billion** [1]. ${HOSTILE} [9]\n\n- a [1]`,
  answerable: true,
  citations: [citation],
  closest: [],
  steps: [
    { step: 1, thought: "", elapsed_ms: 2, tool_calls: [{ name: "dataset_retriever", arguments: { query: "q" }, result: HOSTILE, elapsed_ms: 1 }] },
    { step: 2, thought: "", elapsed_ms: 2, tool_calls: [] },
  ],
  total_tool_calls: 1,
  total_elapsed_ms: 4,
  finished_reason: "complete",
  conversation_id: "conv_1",
  run_id: "run_1",
  degraded: [],
};

const documents: Document[] = [
  { id: "doc_1", name: HOSTILE, status: "ready", mime: "application/pdf", bytes: 1500, pages: 190, chunk_count: 2, created_at: "" },
  { id: "doc_2", name: "empty.pdf", status: "failed", error: "no text found", mime: "application/pdf", bytes: 10, chunk_count: 0, created_at: "" },
];

type Answer = Response | ((body: unknown) => Response | Promise<Response>);

/** The server, one answer per "METHOD path". */
let routes: Record<string, Answer>;
let asked: unknown[];
let app: Record<string, unknown>;

const json = (value: unknown) => () => new Response(JSON.stringify(value));
const sse = (...events: [string, unknown][]) => new Response(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""));

beforeEach(() => {
  asked = [];
  routes = {
    "GET /knowledge-bases": json({ data: [kb, other] }),
    "GET /knowledge-bases/kb_1/documents": json({ data: documents }),
    "GET /knowledge-bases/Filings/documents/doc_1/text": () => new Response(text),
    "POST /ask": () => sse(["step_start", { id: "s" }], ["text_delta", { text: "It sp" }], ["result", result]),
  };
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    const key = `${init.method ?? "GET"} ${new URL(url, "http://x").pathname.replace("/api/v1", "")}`;
    const answer = routes[key] ?? (key === "GET /openapi.json" ? json({ paths: {} }) : undefined);
    if (!answer) throw new Error(`the test has no answer to ${key}`);
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    if (key === "POST /ask") asked.push(body);
    return typeof answer === "function" ? answer(body) : answer;
  });
  Element.prototype.scrollIntoView = () => {};
  localStorage.clear();
  location.hash = "";
});

afterEach(async () => {
  await unmount(app);
  document.body.replaceChildren();
});

function open(hash = "") {
  location.hash = hash;
  app = mount(App, { target: document.body });
  flushSync();
}

const find = <T extends HTMLElement>(selector: string) => document.querySelector<T>(selector)!;
const shown = (selector: string) => find(selector)?.textContent?.replace(/\s+/g, " ").trim();
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((b) => (b.getAttribute("aria-label") ?? b.textContent).trim() === name)!;

async function ask(question: string) {
  await vi.waitFor(() => expect(find<HTMLTextAreaElement>("textarea").placeholder).toBe("Ask a question"));
  const field = find<HTMLTextAreaElement>("textarea");
  field.value = question;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  flushSync();
}

test("an answer is text with its citations as buttons, and they open the source", async () => {
  open();
  await ask("How much?");
  await vi.waitFor(() => expect(find(".sources")).not.toBeNull());

  expect(shown(".question")).toBe("How much?");
  expect(find(".answer p").textContent).toBe(`It spent $2.9 billion [1]. ${HOSTILE} [9]`);
  expect(shown(".answer li")).toBe("a [1]");
  expect([...document.querySelectorAll(".answer .citation")].map((b) => b.textContent)).toEqual(["[1]", "[1]"]);
  expect(shown(".source")).toBe(`[1] BOEING ${HOSTILE}.pdf page 43 ✓ verified`);
  expect(shown("details summary")).toBe("2 steps · 1 tool call · 4 ms");
  expect(find('pre[aria-label="Result"]').textContent).toBe(HOSTILE);

  find(".answer .citation").click();
  await vi.waitFor(() => expect(find("mark")).not.toBeNull());
  expect(find("mark").textContent).toBe(quote);
  expect(find(".passage").textContent).toBe(text);
  expect(find<HTMLAnchorElement>("aside footer a").getAttribute("href")).toBe("/api/v1/knowledge-bases/Filings/documents/doc_1/content?disposition=inline#page=43");
  expect(document.querySelectorAll("img, script")).toHaveLength(0);

  window.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  flushSync();
  expect(find("aside")).toBeNull();
  expect(document.activeElement).toBe(find(".answer .citation"));
});

test("a follow-up continues the conversation, in the knowledge bases that are chosen", async () => {
  open();
  await ask("How much?");
  await vi.waitFor(() => expect(find(".sources")).not.toBeNull());
  [...document.querySelectorAll<HTMLInputElement>("fieldset input")][1]!.click();
  await ask("And in 2021?");
  await vi.waitFor(() => expect(document.querySelectorAll(".sources")).toHaveLength(2));
  expect(asked).toEqual([
    { question: "How much?", knowledge_bases: ["kb_1", "kb_2"], stream: true },
    { question: "And in 2021?", knowledge_bases: ["kb_1"], conversation_id: "conv_1", stream: true },
  ]);
});

test("a quote that is not at its place any more is not highlighted as if it were", async () => {
  routes["GET /knowledge-bases/Filings/documents/doc_1/text"] = () => new Response("short");
  open();
  await ask("How much?");
  await vi.waitFor(() => expect(find(".source")).not.toBeNull());
  find(".source").click();
  await vi.waitFor(() => expect(shown("aside [role=alert]")).toContain("no longer at its place"));
  expect(find("mark")).toBeNull();
  expect(shown("aside blockquote")).toBe(quote);
});

test("a question the documents do not answer says so", async () => {
  routes["POST /ask"] = () => sse(["result", { ...result, answer: "The documents do not tell.", answerable: false, citations: [], closest: [citation] }]);
  open();
  await ask("What is love?");
  await vi.waitFor(() => expect(shown(".notice")).toBe("Not found in your documents The documents do not tell."));
  expect(shown('.sources[aria-label="Closest passages"]')).toContain("[1] BOEING");
});

test("a failure in mid-answer keeps what came and says why", async () => {
  routes["POST /ask"] = () => sse(["text_delta", { text: "It sp" }], ["error", { status: 502, detail: "the model server is gone" }]);
  open();
  await ask("How much?");
  await vi.waitFor(() => expect(shown("article [role=alert]")).toBe("the model server is gone The answer above is incomplete."));
  expect(shown(".answer")).toBe("It sp");
  expect(button("Ask again")).toBeDefined();
});

test("stopping ends the request and keeps what came", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('event: text_delta\ndata: {"text":"It sp"}\n\n')),
    cancel: () => void (cancelled = true),
  });
  let abort = () => {};
  const plainFetch = fetch;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method === "POST") init.signal!.addEventListener("abort", () => abort());
    return plainFetch(url, init);
  });
  // As browsers do: an aborted fetch fails the read that waits.
  const reader = body.getReader();
  routes["POST /ask"] = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          abort = () => {
            controller.error(new DOMException("aborted", "AbortError"));
            void reader.cancel();
          };
        },
        async pull(controller) {
          const { value } = await reader.read();
          if (value) controller.enqueue(value);
        },
      }),
    );
  open();
  await ask("How much?");
  await vi.waitFor(() => expect(shown(".answer")).toBe("It sp"));
  button("Stop").click();
  await vi.waitFor(() => expect(shown("article .notice")).toBe("Stopped. The answer above is incomplete."));
  expect(cancelled).toBe(true);
  expect(button("Ask")).toBeDefined();
});

test("documents are listed with their state, and deleted after asking", async () => {
  open("#/knowledge/kb_1");
  await vi.waitFor(() => expect(find("tbody")).not.toBeNull());
  const rows = [...document.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((td) => td.textContent.replace(/\s+/g, " ").trim()));
  expect(rows).toEqual([
    [HOSTILE, "Ready", "190", "2", "1.5 KB", "Details Delete"],
    ["empty.pdf no text found", "Failed", "–", "0", "10 B", "Details Delete"],
  ]);
  expect(document.querySelectorAll("img, script")).toHaveLength(0);

  const deleted = vi.fn(() => new Response(null, { status: 204 }));
  routes["DELETE /knowledge-bases/kb_1/documents/doc_2"] = deleted;
  button("Delete empty.pdf").click();
  flushSync();
  expect(deleted).not.toHaveBeenCalled();
  routes["GET /knowledge-bases/kb_1/documents"] = json({ data: documents.slice(0, 1) });
  button("Delete document").click();
  await vi.waitFor(() => expect(document.querySelectorAll("tbody tr")).toHaveLength(1));
  expect(deleted).toHaveBeenCalledOnce();
});

test("a knowledge base is made, and a refusal keeps the form", async () => {
  routes["GET /knowledge-bases"] = json({ data: [] });
  routes["POST /knowledge-bases"] = () => new Response('{"detail":"name: taken"}', { status: 409 });
  open("#/knowledge");
  await vi.waitFor(() => expect(button("Create a knowledge base")).toBeDefined());
  button("Create a knowledge base").click();
  flushSync();
  const name = find<HTMLInputElement>("dialog input");
  name.value = "Filings";
  name.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
  find("dialog form").dispatchEvent(new Event("submit", { cancelable: true, bubbles: true }));
  await vi.waitFor(() => expect(shown("dialog [role=alert]")).toBe("name: taken"));

  routes["POST /knowledge-bases"] = json(kb);
  routes["GET /knowledge-bases"] = json({ data: [kb] });
  find("dialog form").dispatchEvent(new Event("submit", { cancelable: true, bubbles: true }));
  await vi.waitFor(() => expect(location.hash).toBe("#/knowledge/kb_1"));
});

test("a server that is away is told, and tried again", async () => {
  routes["GET /knowledge-bases"] = () => Promise.reject(new TypeError("Failed to fetch"));
  open();
  await vi.waitFor(() => expect(shown("[role=alert]")).toContain("The server cannot be reached."));
  routes["GET /knowledge-bases"] = json({ data: [kb] });
  button("Try again").click();
  await vi.waitFor(() => expect(shown(".empty")).toContain("Answers come from your documents alone."));
});

test("more documents than one page are read to the end, and searched and sorted", async () => {
  const page = vi.fn((cursor: string | null) =>
    cursor === "doc_1" ? { data: documents.slice(1), next_cursor: null } : { data: documents.slice(0, 1), next_cursor: "doc_1" },
  );
  const plainFetch = fetch;
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) =>
    url.includes("/kb_1/documents?")
      ? new Response(JSON.stringify(page(new URL(url, "http://x").searchParams.get("cursor"))))
      : plainFetch(url, init),
  );
  open("#/knowledge/kb_1");
  await vi.waitFor(() => expect(document.querySelectorAll("tbody tr")).toHaveLength(2));
  const search = find<HTMLInputElement>('input[aria-label="Search documents"]');
  search.value = "EMPTY";
  search.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
  expect([...document.querySelectorAll("tbody a")].map((a) => a.textContent)).toEqual(["empty.pdf"]);
  search.value = "";
  search.dispatchEvent(new Event("input", { bubbles: true }));
  button("Size").click();
  flushSync();
  expect([...document.querySelectorAll("tbody a")].map((a) => a.textContent)).toEqual(["empty.pdf", HOSTILE]);
});

test("a search shows the section with what was found in it, and takes a filter where the server does", async () => {
  const section = "Head. Boeing spent $2.9 billion. Tail.";
  const hit = {
    ...citation, score: 0.5, title: "", headings: ["R&D"], text: quote, context: "| a | b |", metadata: { year: 2022 },
    char_start: 106, char_end: 132, parent: { char_start: 100, char_end: 138, text: section, others: [] },
    explain: { label: HOSTILE, value: 0.5 },
  };
  routes["GET /openapi.json"] = json({ paths: { "/api/v1/knowledge-bases/{kb}/metadata": { get: {} } } });
  for (const { id } of [kb, other]) routes[`GET /knowledge-bases/${id}/metadata`] = json({ fields: [{ name: "year", type: "number", documents: 1, values: [] }] });
  const retrieved: unknown[] = [];
  routes["POST /retrieve"] = (body) => (retrieved.push(body), new Response(JSON.stringify({ query: "q", hits: [hit], degraded: [], elapsed_ms: 1 })));
  open("#/search");
  await vi.waitFor(() => expect(button("+ Filter")).toBeDefined());
  button("+ Filter").click();
  flushSync();
  const type = (label: string, value: string) => {
    const field = find<HTMLInputElement>(`input[aria-label="${label}"]`);
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
  };
  type("Query", "q");
  type("Field", "year");
  type("Value", "2022");
  find("main form").dispatchEvent(new Event("submit", { cancelable: true, bubbles: true }));
  await vi.waitFor(() => expect(find(".hit")).not.toBeNull());
  expect(retrieved).toEqual([
    {
      query: "q", knowledge_bases: ["kb_1", "kb_2"], mode: "hybrid", rewrite: true, rerank: true, explain: true, top_k: 10,
      filter: { field: "year", op: "eq", value: 2022 },
    },
  ]);
  expect(find(".hit mark").textContent).toBe(quote);
  expect(find(".hit .text").textContent).toBe(section);
  expect(shown(".hit .context")).toBe("| a | b |");
  expect(shown(".hit .tree")).toBe(`0.5000 ${HOSTILE}`);
  expect(document.querySelectorAll("img, script")).toHaveLength(0);
});

test("Enter that ends the choice of a word, or comes with Shift, does not send", async () => {
  open();
  await vi.waitFor(() => expect(find<HTMLTextAreaElement>("textarea").placeholder).toBe("Ask a question"));
  const field = find<HTMLTextAreaElement>("textarea");
  field.value = "検索";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true, bubbles: true }));
  flushSync();
  expect(field.value).toBe("検索");
  expect(asked).toEqual([]);
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  await vi.waitFor(() => expect(asked).toHaveLength(1));
});
