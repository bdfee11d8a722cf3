// Writes tests/data/chat/expected.jsonl: what @huggingface/jinja makes of our own templates, for the
// tests that run without it.
//   node chat_expected.mjs SCRATCH > tests/data/chat/expected.jsonl

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { conversations } from './chat_conversations.mjs';

const kCount = 32;
const kSeed = 7;

const folder = join(dirname(fileURLToPath(import.meta.url)), '../data/chat');
const { Template } = createRequire(join(process.argv[2], 'package.json'))('@huggingface/jinja');
const shapes = JSON.parse(readFileSync(join(folder, 'shapes.json'), 'utf8'));

for (const [name, shape] of Object.entries(shapes)) {
  const source = readFileSync(join(folder, name), 'utf8');
  const template = new Template(source);
  for (const conversation of conversations(kCount, kSeed, shape)) {
    const { messages, tools, add_generation_prompt, extra } = conversation;
    const line = { template: name, conversation };
    try {
      line.text = template.render({ messages, tools, add_generation_prompt, bos_token: '<s>', eos_token: '</s>', ...extra });
    } catch (error) {
      if (!source.includes(error.message)) throw error;
      line.refused = error.message;
    }
    console.log(JSON.stringify(line));
  }
}
