import { expect, test } from "vitest";
import { chosenFiles } from "./dropped";

const file = (path: string) => Object.defineProperty(new File([], path.split("/").at(-1)!), "webkitRelativePath", { value: path.includes("/") ? path : "" });

async function paths(files: File[]): Promise<string[][]> {
  const all: string[][] = [];
  for await (const some of chosenFiles(files as unknown as FileList)) all.push(some.map(({ path }) => path));
  return all;
}

test("chosen files keep their folders; what is hidden inside one is left out", async () => {
  expect(await paths([file("a.md"), file(".env"), file("notes/b.md"), file("notes/.git/config"), file("notes/.DS_Store")])).toEqual([["a.md", ".env", "notes/b.md"]]);
  expect(await paths([])).toEqual([]);
});

test("many files come some at a time, in their order", async () => {
  const names = Array.from({ length: 450 }, (_, i) => `f${i}.md`);
  const parts = await paths(names.map(file));
  expect(parts.map((part) => part.length)).toEqual([200, 200, 50]);
  expect(parts.flat()).toEqual(names);
});
