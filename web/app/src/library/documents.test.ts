import { expect, test } from "vitest";
import type { Document } from "../api/types";
import { type Choice, choose, folders, noteOf } from "./documents";

const document = (path: string, fields: Partial<Document> = {}): Document => ({
  id: path,
  name: path.split("/").at(-1)!,
  path,
  status: "ready",
  mime: "",
  bytes: path.length,
  chunk_count: 0,
  created_at: "",
  ...fields,
});
const all = [document("b/x/One.md"), document("a.pdf", { status: "failed", pages: 3, title: "Annual One" }), document("b/Two.md", { pages: 12 }), document("b/x/three.md")];
const choice: Choice = { search: "", status: "", folder: "", sort: "added", descending: false };
const paths = (change: Partial<Choice>) => choose(all, { ...choice, ...change }).map(({ path }) => path);

test("documents are searched by path and title, by status and by folder", () => {
  expect(paths({})).toEqual(all.map(({ path }) => path));
  expect(paths({ search: "ONE" })).toEqual(["b/x/One.md", "a.pdf"]);
  expect(paths({ search: "one md" })).toEqual(["b/x/One.md"]);
  expect(paths({ status: "failed" })).toEqual(["a.pdf"]);
  expect(paths({ folder: "b/x/" })).toEqual(["b/x/One.md", "b/x/three.md"]);
});

test("documents are sorted; equal ones stay as they came", () => {
  expect(paths({ sort: "name" })).toEqual(["a.pdf", "b/Two.md", "b/x/One.md", "b/x/three.md"]);
  expect(paths({ sort: "pages", descending: true })).toEqual(["b/Two.md", "a.pdf", "b/x/One.md", "b/x/three.md"]);
  expect(paths({ descending: true })).toEqual(all.map(({ path }) => path).reverse());
});

test("folders count what is below them", () => {
  expect(folders(all, "")).toEqual([{ name: "b", documents: 3 }]);
  expect(folders(all, "b/")).toEqual([{ name: "x", documents: 2 }]);
  expect(folders(all, "b/x/")).toEqual([]);
});

test("100,000 documents are sorted and searched while one waits", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => document(`folder ${i % 97}/file ${(i * 7919) % 100_003}.md`));
  const found = choose(many, { ...choice, search: "folder 9123", sort: "name" });
  expect(found.length).toBe(many.filter(({ path }) => path!.includes("9123")).length);
  expect(found[0]!.path! < found.at(-1)!.path!).toBe(true);
});

test("a row says what is wrong, what is on its way, and where else it comes from", () => {
  const sources = (...paths: string[]) => paths.map((path) => ({ origin: "", path }));
  expect(noteOf(document("a.md", { sources: sources("a.md") }))).toBe("");
  expect(noteOf(document("a.md", { pending_revision: { revision: 3 }, warnings: ["odd"] }))).toBe("revision 3 is being made; until then this one is found; odd");
  expect(noteOf(document("a.md", { pending_revision: { revision: 3 }, error: "it is damaged" }))).toBe("it is damaged");
  expect(noteOf(document("a.md", { sources: sources("a.md", "b/a.md", "c.md") }))).toBe("also from b/a.md and 1 more");
});
