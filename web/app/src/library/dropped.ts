import type { Outgoing } from "../api/upload";

/** The most files one drop or choice may bring. */
export const MAX_FILES = 100_000;

/** So many files are handed on at a time: asking a browser for a file's size may take it a fraction of a millisecond. */
const SOME = 200;

/** The files of a file dialog, with their folders where one was chosen, some at a time. */
export function chosenFiles(files: FileList | null): AsyncIterable<Outgoing[]> {
  const all = [...(files ?? [])] // before the dialog's field is emptied
    .slice(0, MAX_FILES)
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ path }) => !path.split("/").slice(1).some(isHidden));
  return parts(all);
}

/** Some at a time, with room for the page to move between. */
async function* parts(all: Outgoing[]): AsyncGenerator<Outgoing[]> {
  for (let i = 0; i < all.length; i += SOME) {
    yield all.slice(i, i + SOME);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/**
 * The files of a drop, those in dropped folders too, in the order the browser
 * gives them, some at a time. Hidden files (.DS_Store, .git) inside folders
 * are left out. It must be called before the drop event ends: the list is
 * empty afterwards.
 */
export function droppedFiles(transfer: DataTransfer): AsyncIterable<Outgoing[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry != null);
  const plain = [...transfer.files].slice(0, MAX_FILES).map((file) => ({ file, path: file.name }));
  return entries.some((entry) => entry.isDirectory) ? walk(entries) : parts(plain);
}

async function* walk(entries: FileSystemEntry[]): AsyncGenerator<Outgoing[]> {
  const stack = entries.toReversed();
  let some: Outgoing[] = [];
  let count = 0;
  for (let entry = stack.pop(); entry && count < MAX_FILES; entry = stack.pop()) {
    if (isFile(entry)) {
      some.push({ file: await fileOf(entry), path: entry.fullPath.replace(/^\//, "") });
      count++;
    } else if (isFolder(entry)) {
      const children = (await childrenOf(entry)).filter((child) => !isHidden(child.name));
      for (const child of children.reverse()) stack.push(child);
    }
    if (some.length === SOME) {
      yield some;
      some = [];
    }
  }
  if (some.length > 0) yield some;
}

const isHidden = (name: string) => name.startsWith(".");
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    // A reader gives at most 100 entries a time, and none when it is done.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
