import { expect, test } from "vitest";
import type { AgentResult, RunEvent } from "../api/types";
import { applyEvent, applyResult, citationOf, endTurn, newTurn, notices } from "./turn";

const result: AgentResult = {
  answer: "Yes [1].",
  answerable: true,
  citations: [],
  closest: [],
  steps: [],
  total_tool_calls: 1,
  total_elapsed_ms: 20,
  finished_reason: "complete",
  conversation_id: "conv_1",
  run_id: "run_1",
  degraded: [],
};

function turnAfter(...events: RunEvent[]) {
  const turn = newTurn("q");
  for (const event of events) applyEvent(turn, event);
  return turn;
}

const searching: RunEvent[] = [
  { kind: "run_start", id: "r" },
  { kind: "step_start", id: "s1", parent: "r" },
  { kind: "thinking_delta", text: "Let me " },
  { kind: "thinking_delta", text: "look." },
  { kind: "tool_start", id: "t1", parent: "s1", label: "dataset_retriever", data: { query: "x" } },
];

test("events become steps with their calls, and the answer so far", () => {
  const turn = turnAfter(
    ...searching,
    { kind: "tool_end", id: "t1", status: "success", text: "Source 1" },
    { kind: "step_end", id: "s1", text: "I looked." },
    { kind: "step_start", id: "s2" },
    { kind: "thinking_delta", text: "hm" },
    { kind: "text_delta", text: "It is" },
    { kind: "text_delta", text: " so" },
    { kind: "step_end", id: "s2" },
    { kind: "a_kind_of_tomorrow" },
  );
  expect(turn).toMatchObject({
    state: "running",
    answer: "It is so",
    steps: [
      {
        thought: "I looked.",
        calls: [{ name: "dataset_retriever", arguments: '{\n  "query": "x"\n}', result: "Source 1", error: "", running: false }],
      },
      { thought: "hm", calls: [] },
    ],
  });
});

test("a person is told what happens now", () => {
  expect(turnAfter(...searching).steps[0]!.thought).toBe("Let me look.");
  expect(turnAfter(...searching).activity).toBe("Searching the documents");
});

test("a failed call is shown as such", () => {
  const turn = turnAfter(...searching, { kind: "tool_end", id: "t1", status: "error", error: "timeout" });
  expect(turn.steps[0]!.calls[0]).toMatchObject({ error: "timeout", running: false });
});

test("the result replaces what was streamed", () => {
  const turn = turnAfter(...searching);
  applyResult(turn, {
    ...result,
    steps: [{ step: 1, thought: "t", elapsed_ms: 5, tool_calls: [{ name: "f", arguments: {}, result: "r", elapsed_ms: 3 }] }],
  });
  expect(turn).toMatchObject({ state: "done", activity: "", answer: "Yes [1].", problem: "" });
  expect(turn.steps).toEqual([
    { id: "1", thought: "t", elapsedMs: 5, calls: [{ id: "1.0", name: "f", arguments: "{}", result: "r", error: "", running: false, elapsedMs: 3 }] },
  ]);
});

test("a run that failed keeps its partial answer and says why", () => {
  const turn = newTurn("q");
  applyResult(turn, { ...result, answer: "Yes, be", finished_reason: "error", error: "ollama: connection refused" });
  expect(turn).toMatchObject({ state: "failed", answer: "Yes, be", problem: "ollama: connection refused" });
});

test("stopping keeps what was streamed and leaves nothing running", () => {
  const turn = turnAfter(...searching);
  endTurn(turn, "stopped", "");
  expect(turn).toMatchObject({ state: "stopped", activity: "", steps: [{ calls: [{ running: false }] }] });
});

test("a limited, degraded or unverified answer says so", () => {
  const citation = { id: 1, verified: false, document_id: "d", document_name: "n", knowledge_base: "k", chunk_id: "c", char_start: 0, char_end: 1, quote: "q" };
  const turn = newTurn("q");
  applyResult(turn, { ...result, finished_reason: "max_steps", degraded: ["rerank: timeout"], citations: [citation, { ...citation, id: 2, verified: true }] });
  expect(notices(turn)).toEqual([
    "The step limit was reached: this is what was known by then.",
    "Answered with reduced means: rerank: timeout",
    "1 of 2 citations could not be verified against the source.",
  ]);
  expect(citationOf(turn, 2)?.verified).toBe(true);
  expect(citationOf(turn, 3)).toBeUndefined();
});
