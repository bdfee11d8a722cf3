// The official openai client, unchanged, against a running server.
//   node openai_client.mjs EVENER SCRATCH    SCRATCH/node_modules holds the package

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [evener, scratch] = process.argv.slice(2);
const { OpenAI } = createRequire(join(resolve(scratch), 'package.json'))('openai');
const kQuestion = [{ role: 'user', content: 'Tell me a story about a dog.' }];

async function startServer() {
  const server = spawn(evener, ['serve', '--port', '0', '--api-key', 'secret'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  const url = await new Promise((ready, failed) => {
    server.stderr.on('data', (bytes) => {
      log += bytes;
      const match = /ready: (http:\/\/\S+)/.exec(log);
      if (match) ready(match[1]);
    });
    server.on('exit', (status) => failed(new Error(`the server ended with ${status}: ${log}`)));
  });
  return { server, url };
}

const tests = {
  async 'models list says what is admitted'({ client }) {
    const models = (await client.models.list()).data;
    assert.equal(models.length, 1);
    assert.ok(models[0].max_model_len > 0);
    assert.equal((await client.models.retrieve(models[0].id)).id, models[0].id);
  },

  async 'a whole answer has text, reason and usage'({ client }) {
    const answer = await client.chat.completions.create({ model: 'any', messages: kQuestion, max_tokens: 20, temperature: 0 });
    assert.ok(answer.choices[0].message.content.length > 10);
    assert.equal(answer.choices[0].finish_reason, 'length');
    assert.equal(answer.usage.completion_tokens, 20);
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + 20);
  },

  async 'a streamed answer is the whole one in pieces'({ client }) {
    const ask = { model: 'any', messages: kQuestion, max_tokens: 40, temperature: 0 };
    const whole = await client.chat.completions.create(ask);
    let text = '';
    const reasons = [];
    let usage = null;
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices[0]?.finish_reason) reasons.push(chunk.choices[0].finish_reason);
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, whole.choices[0].message.content);
    assert.deepEqual(reasons, ['length']);
    assert.equal(usage.completion_tokens, 40);
  },

  async 'a seed makes an answer repeatable'({ client }) {
    const ask = async (seed) => (await client.chat.completions.create({ model: 'any', messages: kQuestion, max_tokens: 30, seed })).choices[0].message.content;
    assert.equal(await ask(5), await ask(5));
    assert.notEqual(await ask(5), await ask(6));
  },

  async 'n makes several answers'({ client }) {
    const answer = await client.chat.completions.create({ model: 'any', messages: kQuestion, max_tokens: 10, n: 3, seed: 1 });
    assert.deepEqual(answer.choices.map((choice) => choice.index), [0, 1, 2]);
    assert.equal(answer.usage.completion_tokens, 30);
  },

  async 'stop texts end an answer and are not part of it'({ client }) {
    const answer = await client.chat.completions.create({ model: 'any', messages: kQuestion, max_tokens: 60, temperature: 0, stop: ['.'] });
    assert.equal(answer.choices[0].finish_reason, 'stop');
    assert.ok(!answer.choices[0].message.content.includes('.'));
  },

  async 'log-probabilities come with each token'({ client }) {
    const answer = await client.chat.completions.create({ model: 'any', messages: kQuestion, max_tokens: 5, temperature: 0, logprobs: true, top_logprobs: 3 });
    const entries = answer.choices[0].logprobs.content;
    assert.equal(entries.length, 5);
    for (const entry of entries) {
      assert.equal(entry.top_logprobs.length, 3);
      assert.equal(entry.top_logprobs[0].token, entry.token);
      assert.ok(entry.logprob <= 0 && entry.logprob >= entry.top_logprobs[1].logprob);
    }
  },

  async 'a stream carries the same log-probabilities'({ client }) {
    const ask = { model: 'any', messages: kQuestion, max_tokens: 12, temperature: 0, logprobs: true, top_logprobs: 2 };
    const whole = await client.chat.completions.create(ask);
    const streamed = [];
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
      streamed.push(...(chunk.choices[0].logprobs?.content ?? []));
    }
    assert.deepEqual(streamed, whole.choices[0].logprobs.content);
  },

  async 'a stream of two answers tells them apart'({ client }) {
    const ask = { model: 'any', messages: kQuestion, max_tokens: 30, temperature: 1.5, seed: 5, n: 2 };
    const whole = await client.chat.completions.create(ask);
    const texts = ['', ''];
    const ids = new Set();
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
      ids.add(chunk.id);
      for (const choice of chunk.choices) texts[choice.index] += choice.delta.content ?? '';
    }
    assert.deepEqual(texts, whole.choices.map((choice) => choice.message.content));
    assert.notEqual(texts[0], texts[1]);
    assert.equal(ids.size, 1);
  },

  async 'the stream helper of the client'({ client }) {
    const final = await client.chat.completions.stream({ model: 'any', messages: kQuestion, max_tokens: 10 }).finalChatCompletion();
    assert.ok(final.choices[0].message.content.length > 0);
  },

  async 'max_tokens 0 scores a text'({ client }) {
    const scored = await client.completions.create({ model: 'any', prompt: 'Once upon a time', max_tokens: 0, echo: true, logprobs: 2 });
    const { tokens, token_logprobs: scores, text_offset: offsets } = scored.choices[0].logprobs;
    assert.equal(scored.choices[0].text, 'Once upon a time');
    assert.equal(tokens.join(''), 'Once upon a time');
    assert.equal(scores[0], null);
    assert.ok(scores.slice(1).every((score) => score <= 0));
    assert.equal(offsets.length, tokens.length);
    assert.equal(scored.usage.completion_tokens, 0);
  },

  async 'a base URL may end in a slash'({ url }) {
    const careless = new OpenAI({ baseURL: `${url}/v1/`, apiKey: 'secret' });
    assert.equal((await careless.models.list()).data.length, 1);
  },

  async 'plain completions go on with a text'({ client }) {
    const answer = await client.completions.create({ model: 'any', prompt: 'Once upon a time', max_tokens: 8, temperature: 0 });
    assert.ok(answer.choices[0].text.length > 5);
    const echoed = await client.completions.create({ model: 'any', prompt: 'Once upon a time', max_tokens: 1, echo: true, logprobs: 1, temperature: 0 });
    assert.ok(echoed.choices[0].text.startsWith('Once upon a time'));
    assert.equal(echoed.choices[0].logprobs.tokens.length, echoed.choices[0].logprobs.token_logprobs.length);
  },

  async 'an aborted stream frees its sequence'({ client, url }) {
    const stream = await client.chat.completions.create({ model: 'any', messages: kQuestion, max_tokens: 1900, stream: true, ignore_eos: true });
    let pieces = 0;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content && ++pieces === 5) stream.controller.abort();
    }
    for (let tries = 0; ; ++tries) {
      const metrics = await (await fetch(`${url}/metrics`, { headers: { Authorization: 'Bearer secret' } })).text();
      if (/^evener_requests_running 0$/m.test(metrics)) break;
      assert.ok(tries < 500, metrics);
      await new Promise((resume) => setTimeout(resume, 20));
    }
  },

  async 'errors have their classes'({ client, url }) {
    const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
    await assert.rejects(client.chat.completions.create({ model: 'any', messages: kQuestion, temperature: 'hot' }), (error) => error instanceof OpenAI.BadRequestError && error.param === 'temperature');
    await assert.rejects(client.models.retrieve('nothing'), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ model: 'any', messages: [] }), OpenAI.BadRequestError);
    const long = [{ role: 'user', content: 'word '.repeat(5000) }];
    await assert.rejects(client.chat.completions.create({ model: 'any', messages: long }), (error) => error.code === 'context_length_exceeded' && /maximum context length is \d+ tokens/.test(error.message));
  },
};

const { server, url } = await startServer();
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'secret', maxRetries: 0 });
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test({ client, url });
  } catch (error) {
    failed++;
    console.log(`openai: ${name}: ${error.stack}`);
  }
}
server.removeAllListeners('exit');
const exited = new Promise((resolveStatus) => server.on('exit', resolveStatus));
server.kill();
const status = await exited;
if (status !== 0) {
  failed++;
  console.log(`openai: told to stop, the server ended with ${status}`);
}
console.log(`openai: ${Object.keys(tests).length - failed} of ${Object.keys(tests).length} tests passed with the official client`);
process.exit(failed ? 1 : 0);
