/** The most files one drop may bring. */
export const MAX_DROPPED = 2000;

/**
 * The files of a drop, those in dropped folders too, in the order the browser
 * gives them. Hidden files (.DS_Store, .git) inside folders are left out.
 * It must be called before the drop event ends: the list is empty afterwards.
 */
export function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry != null);
  const plain = [...transfer.files];
  if (!entries.some((entry) => entry.isDirectory)) return Promise.resolve(plain.slice(0, MAX_DROPPED));
  return walk(entries);
}

async function walk(entries: FileSystemEntry[]): Promise<File[]> {
  const files: File[] = [];
  const queue = [...entries];
  for (let entry = queue.shift(); entry && files.length < MAX_DROPPED; entry = queue.shift()) {
    if (isFile(entry)) files.push(await fileOf(entry));
    else if (isFolder(entry)) queue.unshift(...(await childrenOf(entry)).filter((child) => !child.name.startsWith(".")));
  }
  return files;
}

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
