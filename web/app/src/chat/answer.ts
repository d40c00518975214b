/**
 * An answer as data. Models write a little Markdown; this reads the part of it
 * that answers need and leaves everything else as the text it is. The result
 * is a tree of strings, never HTML.
 */
export type Block =
  | { kind: "paragraph"; content: Inline[] }
  | { kind: "heading"; content: Inline[] }
  | { kind: "list"; ordered: boolean; start: number; items: Inline[][] }
  | { kind: "code"; text: string };

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "strong"; text: string }
  | { kind: "code"; text: string }
  | { kind: "citation"; id: number; text: string };

const FENCE = /^\s*(```+|~~~+)/;
const HEADING = /^#{1,6}\s+(.*)$/;
const BULLET = /^\s*[-*•]\s+(.*)$/;
const NUMBER = /^\s*(\d{1,6})[.)]\s+(.*)$/;

/** Parses an answer into blocks. It never fails, also on half an answer. */
export function parseAnswer(answer: string): Block[] {
  const blocks: Block[] = [];
  const lines = answer.replace(/\r\n?/g, "\n").split("\n");
  let paragraph: string[] = [];

  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", content: parseInline(paragraph.join("\n")) });
    paragraph = [];
  };
  const addItem = (ordered: boolean, start: number, text: string) => {
    endParagraph();
    const last = blocks.at(-1);
    if (last?.kind === "list" && last.ordered === ordered) last.items.push(parseInline(text));
    else blocks.push({ kind: "list", ordered, start, items: [parseInline(text)] });
  };

  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    const bullet = BULLET.exec(line);
    const number = NUMBER.exec(line);
    if (fence) {
      endParagraph();
      const body: string[] = [];
      for (i++; i < lines.length && !lines[i]!.trimStart().startsWith(fence[1]!); i++) body.push(lines[i]!);
      blocks.push({ kind: "code", text: body.join("\n") });
    } else if (line.trim() === "") {
      endParagraph();
    } else if (heading) {
      endParagraph();
      blocks.push({ kind: "heading", content: parseInline(heading[1]!) });
    } else if (bullet) {
      addItem(false, 1, bullet[1]!);
    } else if (number) {
      addItem(true, Number(number[1]), number[2]!);
    } else {
      paragraph.push(line.trim());
    }
  }
  endParagraph();
  return blocks;
}

// Code first, so that nothing inside it is read as anything else. Each
// alternative is bounded by a character it cannot contain: no backtracking.
const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[(\d{1,4})\]/g;

function parseInline(text: string): Inline[] {
  const content: Inline[] = [];
  let at = 0;
  const plain = (until: number) => {
    if (until > at) content.push({ kind: "text", text: text.slice(at, until) });
  };
  for (const match of text.matchAll(INLINE)) {
    const [found, code, strong, citation] = match;
    plain(match.index);
    if (code !== undefined) content.push({ kind: "code", text: code });
    else if (strong !== undefined && !/\[\d/.test(strong)) content.push({ kind: "strong", text: strong });
    else if (strong !== undefined) content.push(...parseInline(strong)); // a citation in bold stays a citation
    else content.push({ kind: "citation", id: Number(citation), text: found });
    at = match.index + found.length;
  }
  plain(text.length);
  return content;
}
