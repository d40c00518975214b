import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as client from "../api/client";
import { ApiError } from "../api/problem";
import AddAddress from "./AddAddress.svelte";

vi.mock("../api/client");

const added = vi.fn();
let view: Record<string, unknown>;

beforeEach(() => {
  vi.resetAllMocks();
  view = mount(AddAddress, { target: document.body, props: { kb: "kb_1", added } });
});

afterEach(async () => {
  await unmount(view);
  document.body.replaceChildren();
});

const field = () => document.querySelector<HTMLInputElement>("input")!;

/** Sends an address and waits until the page says something. */
async function send(url: string, said: string) {
  field().value = url;
  field().dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
  document.querySelector("form")!.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
  await vi.waitFor(() => {
    flushSync();
    expect(document.body.textContent).toContain(said);
  });
}

test("an address is sent, and the field is free for the next", async () => {
  vi.mocked(client.addAddress).mockResolvedValueOnce({ id: "doc_1", name: "a.html", status: "queued", job_id: "job_1" });
  await send(" https://example.org/a.html ", "It is being fetched.");
  expect(client.addAddress).toHaveBeenCalledExactlyOnceWith("kb_1", "https://example.org/a.html");
  expect(added).toHaveBeenCalledOnce();
  expect(field().value).toBe("");
});

test("one that is refused says why and stays", async () => {
  vi.mocked(client.addAddress).mockRejectedValueOnce(new ApiError("url: is not one", 400));
  await send("https://nothing", "url: is not one");
  expect(added).not.toHaveBeenCalled();
  expect(field().value).toBe("https://nothing");
  expect(document.querySelector("[role=alert]")).not.toBeNull();
});
