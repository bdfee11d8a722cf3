// node convert_peer.mjs SCRATCH EVENER FOLDER FILE: texts that llama.cpp and Evener write greedily,
// the one from a converted file, the other from the folder it was made of.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [scratch, evener, folder, file] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${scratch}/package.json`));
const { getLlama } = await import(pathToFileURL(require.resolve('node-llama-cpp')));

const prompts = ['Once upon a time, there was', 'The little dog was very', 'Mom said to Tim:'];
const numTokens = 24;

const llama = await getLlama({ build: 'never', gpu: false, logLevel: 'error', progressLogs: false });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 256, sequences: 1, threads: 1 });

async function peerText(prompt) {
  const sequence = context.getSequence();
  const tokens = [];
  for await (const token of sequence.evaluate(model.tokenize(prompt, false), { temperature: 0 })) {
    tokens.push(token);
    if (tokens.length === numTokens) break;
  }
  sequence.dispose();
  return model.detokenize(tokens);
}

let failed = 0;
for (const prompt of prompts) {
  const words = ['run', prompt, '-m', folder, '--raw', '-n', String(numTokens), '--temp', '0'];
  const ours = execFileSync(evener, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const theirs = await peerText(prompt);
  if (ours.trimEnd().endsWith(theirs.trimEnd())) continue;
  failed += 1;
  console.error(`${file}: '${prompt}'\n  Evener: ${JSON.stringify(ours)}\n  peer:   ${JSON.stringify(theirs)}`);
}
console.log(`${file}: ${prompts.length - failed} of ${prompts.length} texts are the same`);
process.exit(failed === 0 ? 0 : 1);
