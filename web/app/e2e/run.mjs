// The main job in a real browser against a real server: make a knowledge base,
// upload, ask, read the cited answer, open the citation, follow up, delete.
//
//   RAGAGENT_URL=http://127.0.0.1:8080 node e2e/run.mjs [folder for screenshots]
//
// CHROMIUM names the browser (default /usr/bin/chromium). It needs a server
// that answers from documents; what it makes there, it removes.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const base = (process.env.RAGAGENT_URL ?? "http://127.0.0.1:8080").replace(/\/$/, "");
const shots = process.argv[2];
const name = `browser test ${process.pid}`;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// Characters of one to four bytes stand before every sentence that is asked
// for, so that offsets in bytes and in JavaScript's units differ.
const SENTENCE = "The Kestrel probe 🛰️ measured a surface temperature of 412 kelvin on Vesper.";
const LAUNCH = "It was launched from Kourou on 3 March 2031.";
const HOSTILE = `<img src=x onerror="document.title='owned'"> [link](javascript:alert(1))`;
const report = `# Mission report 探査機 — naïve “quotes” 🧭

The programme has three parts: 軌道, 着陸, 帰還. Its budget is told elsewhere. ${HOSTILE}

## Findings

${"Background that nobody asks for, with wörds of many bytes: データ, données, данные. ".repeat(40)}

${SENTENCE} ${LAUNCH}

${"More of the same, ça va sans dire. ".repeat(60)}

## Tea

The canteen serves green tea 緑茶 at four o'clock.
`;

const folder = await mkdtemp(join(tmpdir(), "ragagent-e2e-"));
const browser = await chromium.launchPersistentContext(join(folder, "profile"), {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: FLAGS,
  viewport: { width: 1280, height: 800 },
  colorScheme: "light",
});
browser.setDefaultTimeout(20_000);
const page = browser.pages()[0] ?? (await browser.newPage());

/** @type {string[]} */
const complaints = [];
page.on("console", (message) => {
  // A refused call and a change that is not there are told by the page itself.
  if (/\/embedder$/.test(message.location().url)) return;
  if (message.type() === "error" || message.type() === "warning") complaints.push(`console ${message.type()}: ${message.text()}`);
});
page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
page.on("request", (request) => {
  if (!request.url().startsWith(`${base}/`)) complaints.push(`a request to elsewhere: ${request.url()}`);
});

/** @param {string} label @param {() => Promise<void>} body */
async function step(label, body) {
  const start = performance.now();
  await body();
  console.log(`ok  ${label} (${Math.round(performance.now() - start)} ms)`);
}

/** @param {string} label */
async function shot(label) {
  if (shots) await page.screenshot({ path: join(shots, `${label}.png`), animations: "disabled" });
}

/** @param {string} question */
async function ask(question) {
  await page.getByRole("textbox", { name: "Question" }).fill(question);
  await page.keyboard.press("Enter");
  const turn = page.getByRole("article").last();
  await turn.getByRole("heading", { name: question }).waitFor();
  await page.locator("article[aria-busy=true]").waitFor({ state: "detached" });
  return turn;
}

/** @param {import("playwright-core").Locator} locator */
const text = async (locator) => ((await locator.textContent()) ?? "").trim();

try {
  if (shots) await mkdir(shots, { recursive: true });
  await writeFile(join(folder, "mission.md"), report);
  await writeFile(join(folder, "empty.pdf"), " \n");

  await step("the page opens", async () => {
    await page.goto(`${base}/`);
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await shot("1-start");
  });

  await step("a knowledge base is made", async () => {
    await page.getByRole("link", { name: "Knowledge" }).click();
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Description").fill(`What the probe found. ${HOSTILE}`);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.getByText("No documents yet.").waitFor();
  });

  await step("files are uploaded, each with its own end", async () => {
    await page.getByLabel("Files to add").setInputFiles([join(folder, "mission.md"), join(folder, "empty.pdf")]);
    const uploads = page.getByRole("region", { name: "Uploads" });
    await uploads.getByText("2 of 2 files done, 1 failed").waitFor();
    const rows = await uploads.getByRole("listitem").allTextContents();
    assert.match(rows[0] ?? "", /empty\.pdf.*no text found/s); // what went wrong comes first
    assert.match(rows[1] ?? "", /mission\.md.*Ready/s);
    await page.getByRole("row", { name: /mission\.md Ready/ }).waitFor();
    const dropped = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], "copy of mission.md"));
      return transfer;
    }, report);
    await page.getByRole("group", { name: "Add files" }).dispatchEvent("drop", { dataTransfer: dropped });
    await uploads.getByText("This file is here already").waitFor();
    await shot("2-knowledge");
  });

  await step("a folder keeps its paths, and its documents are found among the others", async () => {
    await mkdir(join(folder, "notes", "deep"), { recursive: true });
    await writeFile(join(folder, "notes", "deep", "first.md"), "# First\n\nA note about lichens.");
    await writeFile(join(folder, "notes", "second.md"), "# Second\n\nA note about mosses.");
    await page.getByLabel("Folder to add").setInputFiles(join(folder, "notes"));
    await page.getByRole("row", { name: /first\.md Ready/ }).waitFor();
    await page.getByRole("row", { name: /second\.md Ready/ }).waitFor();
    await page.getByLabel("Search documents").fill("first");
    await page.getByRole("row", { name: /second\.md/ }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Details of first.md" }).click();
    await page.getByRole("dialog").getByText("text/markdown").waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByLabel("Search documents").fill("");
  });

  await step("a preview shows how a file would be cut", async () => {
    await page.getByRole("button", { name: "Preview a file" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("File to preview").setInputFiles(join(folder, "mission.md"));
    await dialog.getByRole("article", { name: "Passage 1", exact: true }).waitFor();
    const before = await dialog.getByRole("article").count();
    await dialog.getByLabel("Tokens").fill("64");
    await dialog.getByLabel("Section").fill("512");
    await dialog.getByLabel("Section").press("Tab");
    await dialog.getByText(/^Section of \d+ tokens/).first().waitFor();
    assert.ok((await dialog.getByRole("article").count()) > before, "smaller passages are not more");
    await shot("9-preview");
    await page.getByRole("button", { name: "Close", exact: true }).click();
  });

  await step("settings are kept", async () => {
    await page.getByRole("button", { name: "Settings" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Hits").fill("7");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Saved.").waitFor();
    await dialog.getByLabel("Change to").fill("nobody/nothing");
    await dialog.getByRole("button", { name: "Make its vectors" }).click();
    await dialog.getByRole("alert").waitFor(); // there is no such embedder, and it is said
    await shot("10-settings");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("button", { name: "Settings" }).click();
    assert.equal(await page.getByRole("dialog").getByLabel("Hits").inputValue(), "7");
    await page.getByRole("button", { name: "Close", exact: true }).click();
  });

  await step("a search explains itself, and keeps to its filter", async () => {
    await page.getByRole("link", { name: "Search", exact: true }).click();
    for (const box of await page.getByRole("group", { name: "Search in" }).getByRole("checkbox").all()) {
      await box.setChecked((await text(box.locator("xpath=.."))) === name);
    }
    await page.getByLabel("Query").fill("a note about lichens and mosses");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const hits = page.getByRole("list", { name: "Hits" });
    await hits.getByRole("button", { name: "first.md" }).waitFor();
    await hits.getByText("How this score came about").first().click();
    await page.getByRole("button", { name: "+ Filter" }).click();
    await page.getByLabel("Field").fill("name");
    await page.getByLabel("Value").fill("second.md");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await hits.getByRole("button", { name: "first.md" }).waitFor({ state: "detached" });
    await hits.getByRole("button", { name: "second.md" }).click();
    assert.match(await text(page.getByRole("complementary", { name: "Source of the citation" }).locator("mark")), /mosses/);
    await shot("11-search");
    await page.keyboard.press("Escape");
  });

  await step("an answer is cited, and its citation verified", async () => {
    await page.getByRole("link", { name: "Ask" }).click();
    for (const box of await page.getByRole("group", { name: "Search in" }).getByRole("checkbox").all()) {
      const label = await text(box.locator("xpath=.."));
      await box.setChecked(label === name);
    }
    const turn = await ask("What surface temperature did the Kestrel probe measure?");
    assert.match(await text(turn.locator(".answer")), /412 kelvin/);
    assert.ok((await turn.locator(".answer .citation").count()) > 0, "the answer cites nothing");
    assert.match(await text(turn.locator(".source").first()), /\[1\]\s*mission\.md.*✓ verified/s);
  });

  await step("the citation opens its quote in the source", async () => {
    await page.locator(".answer .citation").first().click();
    const source = page.getByRole("complementary", { name: "Source of the citation" });
    const mark = source.locator("mark");
    await mark.waitFor();
    assert.match(await text(mark), /412 kelvin/);
    const shown = await text(source.locator(".passage"));
    assert.ok(shown.includes(`${SENTENCE} ${LAUNCH}`), `the sentence does not stand in the text shown:\n${shown}`);
    assert.ok(report.includes(await text(mark)), "the highlighted quote is not in the uploaded file");
    assert.equal(await source.getByRole("alert").count(), 0);
    await shot("3-citation");
  });

  await step("the steps of the run can be opened", async () => {
    const trace = page.locator("details").last();
    await trace.locator("summary").click();
    await trace.getByText("dataset_retriever").first().waitFor();
    await shot("4-trace");
    await trace.locator("summary").click();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "Source of the citation" }).waitFor({ state: "detached" });
  });

  await step("a follow-up goes on with the conversation", async () => {
    const turn = await ask("Where was it launched from?");
    // Which "it" is meant, the server knows from the first question alone.
    await turn.locator("summary").click();
    assert.match(await text(turn.locator("details")), /Query rewritten to: [^\]]*Kestrel/);
    assert.ok((await turn.locator(".answer .citation").count()) > 0, "the answer cites nothing");
  });

  await step("what the documents do not tell is said honestly", async () => {
    const turn = await ask("Who won the chess championship of Ruritania in 1894?");
    await turn.getByText("Not found in your documents").waitFor();
    await shot("5-refusal");
  });

  await step("it fits a phone, and the dark", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator(".answer .citation").first().click();
    await page.locator("mark").waitFor();
    await shot("6-phone-source");
    await page.getByRole("button", { name: "Close the source" }).click();
    await shot("7-phone-ask");
    await page.getByRole("link", { name: "Knowledge" }).click();
    await page.getByRole("link", { name: new RegExp(name) }).click();
    await page.getByRole("row", { name: /mission\.md/ }).waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0, "the page is wider than the screen");
    await shot("8-phone-knowledge");
  });

  await step("deleted is deleted", async () => {
    await page.getByRole("button", { name: "Delete mission.md" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete document" }).click();
    await page.getByRole("row", { name: /mission\.md/ }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete knowledge base" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete knowledge base" }).click();
    await page.getByRole("link", { name: new RegExp(name) }).waitFor({ state: "detached" });
  });

  await step("nothing was complained about, and nothing came alive", async () => {
    assert.deepEqual(complaints, []);
    assert.notEqual(await page.title(), "owned");
  });
} catch (error) {
  await shot("failure");
  for (const complaint of complaints) console.error(complaint);
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
  // Gone already after a test that passed.
  await fetch(`${base}/api/v1/knowledge-bases/${encodeURIComponent(name)}`, { method: "DELETE" }).catch(() => undefined);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
