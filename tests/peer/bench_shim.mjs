// An OpenAI-compatible server of few words over node-llama-cpp, for the bench to be tried on a server
// that nobody here wrote. Prints "ready: URL" on standard output.
//   node bench_shim.mjs SCRATCH MODEL.gguf    SCRATCH/node_modules holds the packages
//
// It counts tokens, but does not tell what was cached: every prompt is computed whole.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [scratch, model_path] = process.argv.slice(2);
const packages = createRequire(join(resolve(scratch), 'package.json'));
const { getLlama } = await import(pathToFileURL(join(resolve(scratch), 'node_modules/node-llama-cpp/dist/index.js')));
const { Template } = packages('@huggingface/jinja');

const kContext = 1024;
const kSequences = 4;
const kBodyBytes = 16 << 20;

// One thread: several wait for each other at every step, and stand still where a processor is busy.
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: 1 });
const model = await llama.loadModel({ modelPath: model_path });
const context = await model.createContext({ contextSize: kContext, sequences: kSequences });
const template = new Template(model.fileInfo.metadata.tokenizer.chat_template);
const name = basename(model_path, '.gguf');

// Places to compute in; whoever finds none waits for its turn.
const free = Array.from({ length: kSequences }, () => context.getSequence());
const waiting = [];
const take = () => (free.length > 0 ? free.pop() : new Promise((go) => waiting.push(go)));
const give_back = (sequence) => (waiting.length > 0 ? waiting.shift()(sequence) : free.push(sequence));

class Refusal extends Error {
  constructor(status, why) {
    super(why);
    this.status = status;
  }
}

async function body_of(request) {
  let text = '';
  for await (const part of request) {
    text += part;
    if (text.length > kBodyBytes) throw new Refusal(413, 'too large');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'the body is no JSON');
  }
}

function prompt_of(body) {
  if (!Array.isArray(body.messages)) throw new Refusal(400, 'messages must be a list');
  const text = template.render({ messages: body.messages, add_generation_prompt: true });
  return model.tokenize(text, true);
}

// Yields {text, eog} for each token. Ends only when the caller does.
async function* tokens_of(sequence, prompt, body) {
  await sequence.clearHistory();
  const options = { temperature: body.temperature ?? 1, seed: body.seed, yieldEogToken: true };
  let pending = [];
  for await (const token of sequence.evaluate(prompt, options)) {
    const eog = model.isEogToken(token);
    if (!eog) pending.push(token);
    const text = model.detokenize(pending);
    const cut = text.endsWith('\ufffd') && pending.length < 4; // in the middle of a character
    if (!cut) pending = [];
    yield { text: cut ? '' : text, eog };
  }
}

async function answer(body, response, gone) {
  if (body.model !== name) throw new Refusal(404, `no such model; there is ${name}`);
  const prompt = prompt_of(body);
  const room = kContext - prompt.length - 1;
  if (room < 1) throw new Refusal(400, `a prompt of ${prompt.length} tokens is longer than ${kContext}`);
  const max_tokens = Math.min(body.max_tokens ?? room, room);
  const frame = { id: `chatcmpl-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: name };
  const say = (fields) => response.write(`data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', ...fields })}\n\n`);
  const choice = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });

  const sequence = await take();
  let text = '';
  let num_tokens = 0;
  let finish = 'length';
  try {
    if (body.stream) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      say(choice({ role: 'assistant', content: '' }));
    }
    for await (const token of tokens_of(sequence, prompt, body)) {
      if (gone()) return;
      num_tokens += 1;
      text += token.text;
      if (body.stream && token.text) say(choice({ content: token.text }));
      if (token.eog && !body.ignore_eos) finish = 'stop';
      if (finish === 'stop' || num_tokens >= max_tokens) break;
    }
  } finally {
    give_back(sequence);
  }
  const usage = { prompt_tokens: prompt.length, completion_tokens: num_tokens, total_tokens: prompt.length + num_tokens };
  if (body.stream) {
    say(choice({}, finish));
    if (body.stream_options?.include_usage) say({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  } else {
    const message = { role: 'assistant', content: text };
    send(response, 200, { ...frame, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage });
  }
}

function send(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  let gone = false;
  response.on('close', () => { gone = true; });
  try {
    const path = request.url.replace(/\?.*/, '');
    if (path === '/v1/models') {
      const entry = { id: name, object: 'model', owned_by: 'node-llama-cpp', max_model_len: kContext };
      send(response, 200, { object: 'list', data: [entry] });
    } else if (path === '/v1/chat/completions' && request.method === 'POST') {
      await answer(await body_of(request), response, () => gone);
    } else {
      throw new Refusal(404, 'no such route');
    }
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    if (response.headersSent) response.destroy();
    else send(response, error.status ?? 500, { error: { message: error.message, type: 'invalid_request_error' } });
  }
});
server.listen(0, '127.0.0.1', () => console.log(`ready: http://127.0.0.1:${server.address().port}`));
