// The bench against a server that nobody here wrote: node-llama-cpp with the bundled model, behind
// bench_shim.mjs. Figures are not judged, but that they are there, that every token was counted by
// the server, and that no fault is named but those that are true.
//   node bench_peer.mjs EVENER SCRATCH MODEL.gguf

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [evener, scratch, model] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'evener-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const store = ['--store', join(folder, 'store.sqlite')];

// The shim does not say what was cached; the machine may be a busy one; runs are kept short.
const kTrue = new Set(['cold_unproven', 'too_few_samples', 'busy_machine', 'clocks_moved', 'thermal_drift', 'swapped']);
// What a busy machine does to the times.
const kOfTiming = new Set(['stall', 'buffered_stream', 'gaps_unexplained', 'concurrency_missed']);

function bench(...words) {
  const result = spawnSync(evener, ['bench', ...words, ...store], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(result.status, 0, `evener bench ${words.join(' ')}: ${result.stderr}${result.stdout}`);
  return result.stdout;
}

function measure(url, name, ...words) {
  bench(name, '--url', url, '--rounds', '1', ...words);
  const lines = bench('export', 'last').trim().split('\n').map((line) => JSON.parse(line));
  const of = (kind) => lines.filter(({ line }) => line === kind);
  return { header: of('header')[0], cells: of('cell'), requests: of('request').filter(({ excluded }) => !excluded), findings: of('finding') };
}

function check_counts({ header, cells, requests, findings }) {
  assert.equal(header.state, 'complete');
  assert.equal(header.caliber['server.kind'], 'other');
  assert.equal(header.caliber['model.id'], 'evener-tiny35-q8_0');
  for (const { key } of cells) {
    const own = requests.filter(({ cell }) => cell === key);
    assert.ok(own.length > 0, `${key} has no request`);
  }
  for (const request of requests.filter(({ finish }) => finish !== 'cancelled')) {
    assert.equal(request.http_status, 200, request.error);
    assert.equal(request.num_tokens_out, request.num_tokens_out_wanted);
    assert.ok(request.num_tokens_in > 0);
    assert.ok(request.events.length > 0.9 * request.num_tokens_out);
  }
  for (const { fault, detail } of findings) {
    assert.ok(kTrue.has(fault) || kOfTiming.has(fault), `${fault}: ${detail}`);
  }
}

const tests = {
  'a sweep has a cell for each length'(url) {
    const run = measure(url, 'sweep', '--lengths', '64,256,512', '--output-tokens', '32');
    check_counts(run);
    assert.deepEqual(run.cells.map(({ target }) => target.num_tokens_in), ['64', '256', '512']);
    for (const request of run.requests) {
      const off = Math.abs(request.num_tokens_in - request.num_tokens_in_wanted);
      assert.ok(off <= Math.max(8, request.num_tokens_in_wanted / 50), `${request.num_tokens_in} tokens`);
    }
    for (const { figures } of run.cells) {
      assert.ok(figures.ttft_ms.p50 > 0);
      assert.ok(figures.decode_whole_tokens_per_s.p50 > 0);
      assert.ok(!('prefill_tokens_per_s' in figures), 'a rate of a prompt of which the cached part is not known');
    }
  },

  'concurrency keeps so many in flight'(url) {
    const run = measure(url, 'concurrency', '--levels', '1,3', '--time', '2', '--input-tokens', '64', '--output-tokens', '32');
    check_counts(run);
    assert.equal(run.cells.length, 2);
  },

  'starvation has a victim and an attacker'(url) {
    const run = measure(url, 'starvation', '--attackers', '512', '--victim-tokens', '300');
    check_counts(run);
    assert.ok(run.requests.some(({ label }) => label.startsWith('victim')));
    assert.ok(run.requests.some(({ label }) => label.startsWith('attacker')));
  },

  'all figures follow from the records'() {
    bench('verify');
  },
};

async function start_shim() {
  const shim = spawn(process.execPath, [join(here, 'bench_shim.mjs'), scratch, model], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((ready, failed) => {
    let text = '';
    shim.stdout.on('data', (bytes) => {
      text += bytes;
      const match = /ready: (http:\/\/\S+)/.exec(text);
      if (match) ready(match[1]);
    });
    shim.on('exit', (status) => failed(new Error(`the shim ended with ${status}`)));
  });
  return { shim, url };
}

const { shim, url } = await start_shim();
let num_failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    test(url);
    console.log(`ok    ${name}`);
  } catch (error) {
    num_failed += 1;
    console.log(`FAIL  ${name}\n${error.message}`);
  }
}
shim.kill();
process.exit(num_failed > 0 ? 1 : 0);
