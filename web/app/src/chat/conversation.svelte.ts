import { ask } from "../api/client";
import { describe, isAbort } from "../api/problem";
import type { AskRequest } from "../api/types";
import { applyEvent, applyResult, endTurn, newTurn, type Turn } from "./turn";

/** The conversation on the page: its turns, and the one that runs. */
export class Conversation {
  turns = $state<Turn[]>([]);
  #id: string | undefined;
  #running = $state.raw<AbortController>();

  get running(): boolean {
    return this.#running !== undefined;
  }

  /** Asks, and returns when the answer is there, stopped or failed. One at a time. */
  async ask(question: string, knowledgeBases: string[], filter?: unknown): Promise<void> {
    if (this.#running) return;
    const controller = new AbortController();
    this.#running = controller;
    this.turns.push(newTurn(question, filter));
    const turn = this.turns.at(-1)!; // the reactive one
    try {
      const request: AskRequest = { question, knowledge_bases: knowledgeBases };
      if (this.#id) request.conversation_id = this.#id;
      if (filter !== undefined) request.filter = filter;
      for await (const message of ask(request, controller.signal)) {
        if (message.type === "event") {
          applyEvent(turn, message.event);
        } else {
          applyResult(turn, message.result);
          this.#id = message.result.conversation_id || this.#id;
        }
      }
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) endTurn(turn, "stopped", "");
      else endTurn(turn, "failed", describe(error));
    } finally {
      if (this.#running === controller) this.#running = undefined;
    }
  }

  stop(): void {
    this.#running?.abort();
  }

  /** Forgets the conversation on this page; the server keeps what it has. */
  clear(): void {
    this.stop();
    this.#running = undefined;
    this.#id = undefined;
    this.turns = [];
  }
}
