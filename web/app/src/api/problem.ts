/** A failed call, in words a person can act on. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** What went wrong, and where the server says so, what to do about it. */
    message: string,
    /** The HTTP status; 0 where no answer came. */
    readonly status: number,
    /** The problem's machine-readable code, "" where there is none. */
    readonly code = "",
  ) {
    super(message);
  }
}

export const UNREACHABLE = "The server cannot be reached. Check that ragagent is running, then try again.";

/**
 * Reads an error from a response's status and body: problem+json where the
 * body is that, else the first words of the body, else the status alone.
 */
export function problemFrom(status: number, body: string): ApiError {
  const problem = parseObject(body);
  if (problem) {
    const main = text(problem.detail) || text(problem.title);
    // The detail may tell of the fields already.
    const fields = fieldErrors(problem.errors).filter((entry, i, all) => !main.includes(entry) && all.indexOf(entry) === i);
    const message = [main, ...fields].filter((part) => part !== "").join("; ");
    if (message) return new ApiError(message, status, text(problem.code));
  }
  const plain = problem || /^\s*</.test(body) ? "" : body.trim().slice(0, 300);
  return new ApiError(plain || `The server answered with status ${status}.`, status);
}

/** Turns whatever was thrown into a sentence. */
export function describe(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return "The server took too long to answer. Try again.";
  return error instanceof Error && error.message ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function fieldErrors(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((entry: unknown) => {
    if (typeof entry === "string") return entry;
    if (typeof entry !== "object" || entry === null) return "";
    const { field, detail, reason, message } = entry as Record<string, unknown>;
    const why = text(detail) || text(reason) || text(message);
    return text(field) && why ? `${text(field)}: ${why}` : why;
  });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
