/** The shapes of API.md that the page reads. Offsets count bytes of UTF-8. */

export interface List<T> {
  data: T[];
  /** null on the last page. */
  next_cursor?: string | null;
}

export interface Chunking {
  strategy?: "structure" | "sentence" | "fixed" | "";
  /** In tokens; 0 is the server's default. */
  size?: number;
  overlap?: number;
  /** Small chunks are searched, sections of this many tokens are shown; 0 without. */
  parent?: { size: number };
}

export interface RetrievalSettings {
  top_k?: number;
  score_threshold?: number;
}

export interface KnowledgeBase {
  id: string;
  name: string;
  description: string;
  embedder: string;
  chunking?: Chunking;
  retrieval?: RetrievalSettings;
  document_count: number;
  chunk_count: number;
  /** What a change does not do by itself. */
  notices?: string[];
}

export type MetadataValue = string | number | boolean | string[] | number[];
export type Metadata = Record<string, MetadataValue>;

export type Status = "queued" | "running" | "ready" | "failed" | "cancelled";

export interface Document {
  id: string;
  name: string;
  title?: string;
  /** With the folders it was uploaded with. */
  path?: string;
  status: Status;
  error?: string;
  mime: string;
  bytes: number;
  pages?: number;
  chunk_count: number;
  /** What searches see; 0 where that is nothing yet. */
  revision?: number;
  /** What it is to become, while a newer revision is made. */
  pending_revision?: { revision: number };
  /** Where it comes from, by hand or not. */
  sources?: { origin?: string; path: string }[];
  metadata?: Metadata;
  warnings?: string[];
  created_at: string;
  updated_at?: string;
}

export interface SubmittedDocument {
  id: string;
  name: string;
  status: Status;
  /** Missing where the file was refused, which error tells. */
  job_id?: string;
  duplicate_of?: string;
  error?: string;
  path?: string;
  bytes?: number;
  revision?: number;
}

export interface Job {
  id: string;
  kind: string;
  status: Status;
  stage?: string;
  done: number;
  total: number;
  /** null while nobody can tell. */
  eta_ms?: number | null;
  error?: string;
  /** Why it does not go on at present. */
  waiting?: string;
}

export interface Citation {
  id: number;
  document_id: string;
  document_name: string;
  knowledge_base: string;
  chunk_id: string;
  page_start?: number;
  page_end?: number;
  char_start: number;
  char_end: number;
  quote: string;
  verified: boolean;
}

export interface ToolCall {
  name: string;
  arguments: unknown;
  result: string;
  error?: string;
  elapsed_ms: number;
}

export interface Step {
  step: number;
  thought: string;
  tool_calls: ToolCall[];
  elapsed_ms: number;
}

export interface AgentResult {
  answer: string;
  answerable: boolean;
  citations: Citation[];
  /** The best passages that did not hold the answer. */
  closest: Citation[];
  steps: Step[];
  total_tool_calls: number;
  total_elapsed_ms: number;
  finished_reason: "complete" | "max_steps" | "error" | "cancelled" | "budget" | "interrupted";
  error?: string;
  conversation_id: string;
  run_id: string;
  degraded: string[];
}

/** One event of a run, as POST /ask streams it. */
export interface RunEvent {
  kind: string;
  id?: string;
  parent?: string;
  label?: string;
  status?: "start" | "success" | "error";
  text?: string;
  data?: unknown;
  error?: string;
  time?: string;
}

export interface AskRequest {
  question: string;
  knowledge_bases: string[];
  conversation_id?: string;
  filter?: unknown;
}

/** A part of a document's text. */
export interface Section {
  page_start?: number;
  page_end?: number;
  char_start: number;
  char_end: number;
}

export interface PreviewChunk extends Section {
  ordinal: number;
  headings: string[];
  /** What has to be known to read the text, such as a table's header row. */
  context?: string;
  text: string;
  tokens: number;
  parent?: Section & { tokens: number };
}

export interface Preview {
  name: string;
  mime: string;
  title: string;
  pages?: number;
  text_bytes: number;
  warnings: string[];
  /** What it was cut by, with the defaults filled in. */
  chunking: Chunking;
  chunks: PreviewChunk[];
  total_chunks: number;
}

export type Mode = "hybrid" | "lexical" | "dense";

export interface RetrieveRequest {
  query: string;
  knowledge_bases: string[];
  top_k?: number;
  score_threshold?: number;
  mode?: Mode;
  filter?: unknown;
  rewrite?: boolean;
  rerank?: boolean;
  explain?: boolean;
}

export interface Explanation {
  label: string;
  value: number;
  details?: Explanation[];
}

export interface Hit extends Section {
  chunk_id: string;
  document_id: string;
  document_name: string;
  knowledge_base: string;
  score: number;
  title: string;
  text: string;
  headings: string[];
  context?: string;
  /** The section that is shown in the chunk's place, and the other chunks of it that were found. */
  parent?: Section & { text: string; others: (Section & { chunk_id: string; score: number })[] };
  metadata: Metadata;
  explain?: Explanation;
}

export interface RetrieveResult {
  query: string;
  rewritten_query?: string;
  hits: Hit[];
  degraded: string[];
  elapsed_ms: number;
}

/** How the change of a knowledge base's embedder stands. */
export interface EmbedderChange {
  state: "filling" | "ready_to_switch" | "switched" | "failed" | "discarding";
  /** Of the vectors that are not searched: the new one before the switch, the old one after it. */
  embedder: string;
  dimension: number;
  auto: boolean;
  done: number;
  total: number;
  comparison: {
    questions: number;
    overlap_at_10: number;
    dense_overlap_at_10: number;
    /** Questions whose first hit is the same, 0 to 1. */
    same_first: number;
    judged?: number;
    old_ndcg_at_10?: number;
    new_ndcg_at_10?: number;
  } | null;
  error?: string;
  waiting?: string;
}
