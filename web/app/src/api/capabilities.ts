/** As much of an OpenAPI document as the page asks. */
interface OpenApi {
  paths?: Record<string, Record<string, { parameters?: { name?: string }[] } | undefined> | undefined>;
}

/**
 * What this server can do, as its own description says: a page that is older
 * or newer than its server hides what would be refused.
 */
export class Capabilities {
  constructor(private readonly description: OpenApi = {}) {}

  /** Says whether there is such a call, as has("POST", "/jobs/retry"). */
  has(method: string, path: string): boolean {
    return this.description.paths?.[`/api/v1${path}`]?.[method.toLowerCase()] !== undefined;
  }

  get filters(): boolean {
    return this.has("GET", "/knowledge-bases/{kb}/metadata");
  }

  get metadataEditing(): boolean {
    return this.has("PATCH", "/knowledge-bases/{kb}/documents/{id}");
  }

  get embedderChange(): boolean {
    return this.has("POST", "/knowledge-bases/{kb}/embedder");
  }

  get retryAll(): boolean {
    return this.has("POST", "/jobs/retry");
  }
}

/** Reads the server's description; without an answer the page does what every version can. */
export async function readCapabilities(): Promise<Capabilities> {
  try {
    const response = await fetch("/openapi.json", { signal: AbortSignal.timeout(10_000) });
    return new Capabilities(response.ok ? ((await response.json()) as OpenApi) : {});
  } catch {
    return new Capabilities();
  }
}
