import { documentsPath } from "./client";
import { ApiError, problemFrom, UNREACHABLE } from "./problem";
import type { SubmittedDocument } from "./types";

export interface UploadOptions {
  signal: AbortSignal;
  /** Told how much of the file has left, from 0 to 1. */
  onProgress: (fraction: number) => void;
}

/**
 * Uploads one file. XMLHttpRequest, because fetch cannot tell the progress of
 * an upload. Resolves when the server has the file safely, which is before it
 * has been read.
 */
export function uploadFile(kb: string, file: File, { signal, onProgress }: UploadOptions): Promise<SubmittedDocument> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const settle = (finish: () => void) => {
      signal.removeEventListener("abort", abort);
      finish();
    };
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) onProgress(event.loaded / event.total);
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
    form.append("file", file, file.name);
    request.open("POST", documentsPath(kb));
    request.setRequestHeader("Accept", "application/json");
    request.send(form);
  });
}

function submitted(status: number, body: string): SubmittedDocument {
  if (status < 200 || status > 299) throw problemFrom(status, body);
  const answer = JSON.parse(body) as { documents?: SubmittedDocument[] };
  const document = answer.documents?.[0];
  if (!document) throw new ApiError("The server took the file but named no document.", status);
  return document;
}
