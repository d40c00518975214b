import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as client from "../api/client";
import type { EmbedderChange, KnowledgeBase } from "../api/types";
import Embedder from "./Embedder.svelte";

vi.mock("../api/client");

const kb: KnowledgeBase = { id: "kb_1", name: "K", description: "", embedder: "builtin/a", document_count: 1, chunk_count: 9 };
const change = (fields: Partial<EmbedderChange>): EmbedderChange => ({
  state: "filling", embedder: "ollama/b", dimension: 4, auto: false, done: 3, total: 9, comparison: null, ...fields,
});
const text = () => document.body.textContent.replace(/\s+/g, " ").trim();
const press = (name: string) => [...document.querySelectorAll("button")].find((b) => b.textContent.trim() === name)!.click();

let view: Record<string, unknown>;
const switched = vi.fn();

beforeEach(() => {
  vi.resetAllMocks();
  vi.useFakeTimers();
});

afterEach(async () => {
  await unmount(view);
  document.body.replaceChildren();
  vi.useRealTimers();
});

async function open() {
  view = mount(Embedder, { target: document.body, props: { kb, switched } });
  await settle();
}

async function settle(ms = 0) {
  await vi.advanceTimersByTimeAsync(ms);
  flushSync();
}

test("another embedder is made, compared, switched to, taken back and discarded", async () => {
  const comparison = { questions: 50, overlap_at_10: 0.84, dense_overlap_at_10: 0.5, same_first: 0.9, judged: 12, old_ndcg_at_10: 0.5, new_ndcg_at_10: 0.625 };
  vi.mocked(client.embedderChange).mockResolvedValueOnce(undefined);
  vi.mocked(client.changeEmbedder).mockResolvedValueOnce(change({}));
  await open();
  const field = document.querySelector<HTMLInputElement>("input[type=text]")!;
  field.value = " ollama/b ";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
  press("Make its vectors");
  await settle();
  expect(client.changeEmbedder).toHaveBeenCalledExactlyOnceWith("kb_1", { embedder: "ollama/b", auto: false, compare: true });
  expect(text()).toContain("Making the vectors of ollama/b: 3 of 9.");

  vi.mocked(client.embedderChange).mockResolvedValueOnce(change({ waiting: "it does not answer" }));
  await settle(1500);
  expect(text()).toContain("Paused: it does not answer");

  vi.mocked(client.embedderChange).mockResolvedValueOnce(change({ state: "ready_to_switch", done: 9, comparison }));
  await settle(1500);
  expect(text()).toContain("Same among the first 10 hits84 %");
  expect(text()).toContain("0.500 → 0.625");

  vi.mocked(client.switchEmbedder).mockResolvedValueOnce(change({ state: "switched", embedder: "builtin/a", comparison }));
  press("Switch");
  await settle();
  expect(text()).toContain("The vectors of builtin/a are kept until you discard them.");
  vi.mocked(client.rollBackEmbedder).mockResolvedValueOnce(change({ state: "ready_to_switch", comparison }));
  press("Roll back");
  await settle();
  vi.mocked(client.discardEmbedder).mockResolvedValueOnce(undefined);
  press("Discard the new vectors");
  await settle();
  expect(text()).toContain("Change to");
  expect(switched).toHaveBeenCalledTimes(5);
});

test("what the server refuses is told, and the change stays as it was", async () => {
  vi.mocked(client.embedderChange).mockResolvedValueOnce(change({ state: "ready_to_switch" }));
  vi.mocked(client.switchEmbedder).mockRejectedValueOnce(new Error("it is being loaded"));
  await open();
  press("Switch");
  await settle();
  expect(document.querySelector("[role=alert]")!.textContent).toBe("it is being loaded");
  expect(text()).toContain("The vectors of ollama/b are complete.");
});
