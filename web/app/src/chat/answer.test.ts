import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, type Inline, parseAnswer } from "./answer";

const text = (text: string): Inline => ({ kind: "text", text });
const cite = (id: number): Inline => ({ kind: "citation", id, text: `[${id}]` });

test("paragraphs, lists, headings, code and citations", () => {
  const answer =
    "## Costs\nBoeing spent **$2.9 billion** [1][12].\nMore.\n\n- first [2]\n* second `a[3]`\n\n3. third\n4) fourth\n```go\nx := y[1] // <b>\n```\nEnd";
  expect(parseAnswer(answer)).toEqual<Block[]>([
    { kind: "heading", content: [text("Costs")] },
    {
      kind: "paragraph",
      content: [text("Boeing spent "), { kind: "strong", text: "$2.9 billion" }, text(" "), cite(1), cite(12), text(".\nMore.")],
    },
    { kind: "list", ordered: false, start: 1, items: [[text("first "), cite(2)], [text("second "), { kind: "code", text: "a[3]" }]] },
    { kind: "list", ordered: true, start: 3, items: [[text("third")], [text("fourth")]] },
    { kind: "code", text: "x := y[1] // <b>" },
    { kind: "paragraph", content: [text("End")] },
  ]);
});

test("a citation in bold stays a citation", () => {
  expect(parseAnswer("**true [4]**")).toEqual([{ kind: "paragraph", content: [text("true "), cite(4)] }]);
});

test("HTML, links and images are text", () => {
  const hostile = '<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](http://c/d) <script>x</script>';
  expect(parseAnswer(hostile)).toEqual([{ kind: "paragraph", content: [text(hostile)] }]);
});

test("half an answer is read as far as it goes", () => {
  expect(parseAnswer("**bold that is not clo")).toEqual([{ kind: "paragraph", content: [text("**bold that is not clo")] }]);
  expect(parseAnswer("see [1")).toEqual([{ kind: "paragraph", content: [text("see [1")] }]);
  expect(parseAnswer("```\nopen")).toEqual([{ kind: "code", text: "open" }]);
  expect(parseAnswer("")).toEqual([]);
});

test("no letter and no citation of any answer is lost or moved, whatever stands around it", () => {
  const unit = fc.constantFrom("a", "é", "検", "🎯", "[7]", "[", "]", "*", "**", "`", "#", "# ", "- ", " ", "\n", "<");
  const kept = (s: string) => s.replace(/[^aé検🎯7<]/gu, "");
  const shown = (content: Inline[]) => content.map((part) => part.text).join("");
  fc.assert(
    fc.property(fc.string({ unit }).filter((s) => !s.includes("```")), (answer) => {
      const all = parseAnswer(answer).map((block) => {
        if (block.kind === "code") return block.text;
        return block.kind === "list" ? block.items.map(shown).join("") : shown(block.content);
      });
      expect(kept(all.join(""))).toBe(kept(answer));
    }),
    { numRuns: 1000 },
  );
});

test("a long answer of brackets and stars is read in no time", () => {
  const block = parseAnswer("[*`".repeat(100_000));
  expect(block).toHaveLength(1);
});
