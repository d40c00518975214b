import type { AgentResult, Citation, RunEvent } from "../api/types";

/** One question and what became of it. */
export interface Turn {
  question: string;
  /** Which documents it was asked of; undefined for all. */
  filter?: unknown;
  state: "running" | "done" | "stopped" | "failed";
  /** What is happening now, for people; "" where there is nothing to tell. */
  activity: string;
  /** The answer so far; the server's final wording once it is there. */
  answer: string;
  steps: TraceStep[];
  /** Set once the run has ended by itself. */
  result?: AgentResult;
  /** Why it failed; "" where it did not. */
  problem: string;
}

export interface TraceStep {
  id: string;
  thought: string;
  calls: TraceCall[];
  elapsedMs?: number;
}

export interface TraceCall {
  id: string;
  name: string;
  arguments: string;
  result: string;
  error: string;
  running: boolean;
  elapsedMs?: number;
}

export function newTurn(question: string, filter?: unknown): Turn {
  return { question, filter, state: "running", activity: "Starting", answer: "", steps: [], problem: "" };
}

/** Brings a turn up to date with an event of its run. Unknown kinds are left alone. */
export function applyEvent(turn: Turn, event: RunEvent): void {
  switch (event.kind) {
    case "step_start":
      turn.steps.push({ id: event.id ?? "", thought: "", calls: [] });
      turn.activity = "Thinking";
      return;
    case "thinking_delta": {
      const step = turn.steps.at(-1);
      if (step) step.thought += event.text ?? "";
      turn.activity = "Thinking";
      return;
    }
    case "step_end": {
      const step = turn.steps.find((step) => step.id === event.id);
      if (step && event.text) step.thought = event.text;
      return;
    }
    case "text_delta":
      turn.answer += event.text ?? "";
      turn.activity = "Writing";
      return;
    case "tool_start":
      stepOf(turn, event).calls.push({
        id: event.id ?? "",
        name: event.label ?? "tool",
        arguments: pretty(event.data),
        result: "",
        error: "",
        running: true,
      });
      turn.activity = activityOf(event.label);
      return;
    case "tool_end": {
      const call = turn.steps.flatMap((step) => step.calls).find((call) => call.id === event.id && call.running);
      if (!call) return;
      call.running = false;
      call.result = event.text ?? "";
      call.error = event.error ?? (event.status === "error" ? "The call failed." : "");
      turn.activity = "Reading what was found";
      return;
    }
    case "retry":
      turn.activity = "The model did not answer; trying again";
      return;
  }
}

/** Ends a turn with the run's result, which replaces all that was streamed. */
export function applyResult(turn: Turn, result: AgentResult): void {
  turn.result = result;
  turn.answer = result.answer;
  turn.activity = "";
  turn.state = result.finished_reason === "error" ? "failed" : "done";
  if (turn.state === "failed") turn.problem = result.error || "The run ended with an error.";
  turn.steps = result.steps.map((step) => ({
    id: String(step.step),
    thought: step.thought,
    elapsedMs: step.elapsed_ms,
    calls: step.tool_calls.map((call, i) => ({
      id: `${step.step}.${i}`,
      name: call.name,
      arguments: pretty(call.arguments),
      result: call.result,
      error: call.error ?? "",
      running: false,
      elapsedMs: call.elapsed_ms,
    })),
  }));
}

/** Ends a turn that has no result. What was streamed is kept. */
export function endTurn(turn: Turn, state: "stopped" | "failed", problem: string): void {
  turn.state = state;
  turn.problem = problem;
  turn.activity = "";
  for (const call of turn.steps.flatMap((step) => step.calls)) call.running = false;
}

/** What a person must know about how a run ended; one sentence each. */
export function notices(turn: Turn): string[] {
  const result = turn.result;
  if (!result) return [];
  const ended: Partial<Record<AgentResult["finished_reason"], string>> = {
    max_steps: "The step limit was reached: this is what was known by then.",
    budget: "The time or token budget was used up: this is what was known by then.",
    cancelled: "The run was cancelled: the answer may be incomplete.",
    interrupted: "The run was interrupted: the answer may be incomplete.",
  };
  const unverified = result.citations.filter((citation) => !citation.verified).length;
  return [
    ended[result.finished_reason] ?? "",
    ...result.degraded.map((reason) => `Answered with reduced means: ${reason}`),
    unverified > 0 ? `${unverified} of ${result.citations.length} citations could not be verified against the source.` : "",
  ].filter((notice) => notice !== "");
}

/** The citation that [id] in an answer stands for. */
export function citationOf(turn: Turn, id: number): Citation | undefined {
  return turn.result?.citations.find((citation) => citation.id === id);
}

function stepOf(turn: Turn, event: RunEvent): TraceStep {
  const step = turn.steps.find((step) => step.id === event.parent) ?? turn.steps.at(-1);
  if (step) return step;
  const made: TraceStep = { id: event.parent ?? "", thought: "", calls: [] };
  turn.steps.push(made);
  // Through the turn again: where turns are reactive, so is what comes back.
  return turn.steps.at(-1)!;
}

function activityOf(tool: string | undefined): string {
  return tool === "dataset_retriever" ? "Searching the documents" : `Using ${tool ?? "a tool"}`;
}

function pretty(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
