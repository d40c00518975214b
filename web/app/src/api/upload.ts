import { documentsPath } from "./client";
import { ApiError, problemFrom, UNREACHABLE } from "./problem";
import type { SubmittedDocument } from "./types";

/** A file and the path it is known by: its name, or with the folders it was chosen with. */
export interface Outgoing {
  file: File;
  path: string;
}

export interface UploadOptions {
  signal: AbortSignal;
  /** Told how many bytes of the request have left, of how many. */
  onProgress: (sent: number, total: number) => void;
  /** Makes it safe to send the same request again: the server answers as it did. */
  idempotencyKey: string;
}

/**
 * Uploads some files in one request. XMLHttpRequest, because fetch cannot tell
 * the progress of an upload. Resolves when the server has the files safely,
 * which is before they have been read. One answer a file in their order, or
 * more where a file is an archive.
 */
export function uploadFiles(kb: string, files: Outgoing[], { signal, onProgress, idempotencyKey }: UploadOptions): Promise<SubmittedDocument[]> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const settle = (finish: () => void) => {
      signal.removeEventListener("abort", abort);
      finish();
    };
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) onProgress(event.loaded, event.total);
    };
    request.onload = () =>
      settle(() => {
        try {
          resolve(submitted(request.status, request.responseText));
        } catch (error) {
          reject(error);
        }
      });
    request.onerror = () => settle(() => reject(new ApiError(UNREACHABLE, 0)));
    request.onabort = () => settle(() => reject(new DOMException("The upload was stopped.", "AbortError")));
    if (signal.aborted) {
      request.onabort(new ProgressEvent("abort"));
      return;
    }
    signal.addEventListener("abort", abort);

    const form = new FormData();
    for (const { file, path } of files) form.append("file", file, path);
    request.open("POST", documentsPath(kb));
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Idempotency-Key", idempotencyKey);
    request.send(form);
  });
}

function submitted(status: number, body: string): SubmittedDocument[] {
  if (status < 200 || status > 299) throw problemFrom(status, body);
  const { documents } = JSON.parse(body) as { documents?: SubmittedDocument[] };
  if (!documents?.length) throw new ApiError("The server took the file but named no document.", status);
  return documents;
}
