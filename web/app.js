// The chat page: ties the parts together.

import { getHealth, getHost, getModel, setApiKey, streamChat } from './api.js';
import { machineView } from './machine.js';
import { AnswerView, userView } from './message_view.js';
import { Settings } from './settings.js';

const $ = (id) => document.getElementById(id);
const kChatKey = 'evener-chat';
const kIdeas = ['Tell me a story about a dog.', 'Tell me a story about the sea.', 'Hello! Who are you?'];

const settings = new Settings($('sampling'), $('system'), $('thinking'));
let messages = [];     // what the model is sent, without the system prompt
let running = null;    // AbortController of the answer that streams
let model = null;

// ---- conversation

function saveChat() {
  localStorage.setItem(kChatKey, JSON.stringify(messages));
}

function restoreChat() {
  try {
    messages = JSON.parse(localStorage.getItem(kChatKey)) ?? [];
  } catch {
    messages = [];
  }
  redraw();
}

function redraw() {
  $('messages').replaceChildren(...messages.map(viewOf));
  $('welcome').hidden = messages.length > 0;
  scrollDown();
}

function viewOf(message, index) {
  if (message.role === 'user') return userView(message.content);
  const view = new AnswerView(index === messages.length - 1 ? retry : null);
  view.content = message.content;
  view.reasoning = message.reasoning ?? '';
  view.finish(message.figures ?? '', message.error);
  return view.root;
}

// Follows the answer only as long as the reader has not scrolled up.
function isAtEnd() {
  const log = $('log');
  return log.scrollHeight - log.scrollTop - log.clientHeight < 80;
}

function scrollDown() {
  $('log').scrollTop = $('log').scrollHeight;
}

function newChat() {
  stop();
  showChat();
  messages = [];
  saveChat();
  redraw();
  $('input').focus();
}

function retry() {
  if (running) return;
  messages.pop();
  redraw();
  answer();
}

function stop() {
  running?.abort();
}

// ---- answering

function requestBody() {
  const system = $('system').value.trim();
  const history = messages.filter((message) => message.content).map(({ role, content }) => ({ role, content }));
  const body = { model: model?.id, messages: system ? [{ role: 'system', content: system }, ...history] : history, ...settings.request() };
  if (!$('thinking-row').hidden) body.chat_template_kwargs = { enable_thinking: $('thinking').checked };
  return body;
}

class Figures {
  start = performance.now();
  first = 0;
  last = 0;
  pieces = 0;
  usage = null;

  count() {
    this.last = performance.now();
    this.first ||= this.last;
    this.pieces++;
  }

  text(ending) {
    const parts = [];
    if (this.first) parts.push(`first token after ${((this.first - this.start) / 1000).toFixed(2)} s`);
    const tokens = this.usage?.completion_tokens ?? this.pieces;
    const seconds = (this.last - this.first) / 1000;
    if (tokens > 1 && seconds > 0) parts.push(`${((tokens - 1) / seconds).toFixed(1)} tokens/s`);
    if (this.usage) parts.push(`${this.usage.prompt_tokens} + ${tokens} tokens`);
    if (ending) parts.push(ending);
    return parts.join(' \u00b7 ');
  }
}

function progressText({ ahead, cache, processed, total }) {
  if (ahead === 0) return 'next in the queue';
  if (ahead) return `in the queue: ${ahead} ahead`;
  const known = cache ? ` (${cache} known already)` : '';
  return `reading the prompt: ${processed} of ${total} tokens${known}`;
}

async function answer() {
  const view = new AnswerView(retry);
  const figures = new Figures();
  $('messages').append(view.root);
  scrollDown();
  view.onDraw = () => followed && scrollDown();
  let followed = true;
  const onScroll = () => { followed = isAtEnd(); };
  $('log').addEventListener('scroll', onScroll);
  setRunning(new AbortController());

  let ending = '';
  let error = '';
  try {
    const finish = await streamChat(requestBody(), running.signal, {
      chunk: (chunk) => { figures.usage = chunk.usage ?? figures.usage; },
      progress: (progress) => {
        const fraction = progress.ahead === undefined ? progress.processed / progress.total : null;
        view.showProgress(progressText(progress), fraction);
      },
      delta: (delta) => {
        if (!delta.content && !delta.reasoning_content) return;
        figures.count();
        if (delta.reasoning_content) view.addReasoning(delta.reasoning_content);
        if (delta.content) view.addContent(delta.content);
        view.showFigures(figures.text(''));
      },
    });
    if (finish === 'length') ending = 'ended at the length limit';
  } catch (problem) {
    if (problem.name === 'AbortError') ending = 'stopped';
    else error = problem.message;
    if (problem.status === 401) askForKey();
  }
  setRunning(null);
  $('log').removeEventListener('scroll', onScroll);
  view.finish(figures.text(ending), error);
  messages.push({ role: 'assistant', content: view.content, reasoning: view.reasoning, figures: figures.text(ending), error });
  saveChat();
  $('input').focus();
}

function setRunning(controller) {
  running = controller;
  $('stop').hidden = !controller;
  $('send').hidden = Boolean(controller);
}

function send(text) {
  if (running || !text.trim()) return;
  if (messages.at(-1)?.error) messages.pop();
  messages.push({ role: 'user', content: text });
  saveChat();
  redraw();
  answer();
}

// ---- model and server

function addFact(name, value) {
  if (value === undefined || value === null || value === '') return;
  const dt = document.createElement('dt');
  const dd = document.createElement('dd');
  dt.textContent = name;
  dd.textContent = value;
  $('facts').append(dt, dd);
}

const millions = (count) => (count >= 1e9 ? `${(count / 1e9).toFixed(1)} B` : `${(count / 1e6).toFixed(1)} M`);

function showModel() {
  const meta = model.meta ?? {};
  $('model').textContent = [model.id, meta.n_params && `${millions(meta.n_params)} parameters`, `${model.max_model_len} tokens of context`].filter(Boolean).join(' \u00b7 ');
  $('facts').replaceChildren();
  addFact('Name', model.id);
  addFact('Family', meta.family);
  addFact('Weights', meta.quantisation);
  addFact('Parameters', meta.n_params && millions(meta.n_params));
  addFact('Size', meta.size && `${(meta.size / 1e6).toFixed(1)} MB`);
  addFact('Context', `${model.max_model_len} tokens admitted`);
  addFact('Trained for', meta.n_ctx_train && `${meta.n_ctx_train} tokens`);
  addFact('Device', meta.device);
  $('thinking-row').hidden = !model.capabilities?.includes('thinking');
}

function askForKey() {
  const dialog = $('key-dialog');
  if (dialog.open) return;
  dialog.addEventListener('close', () => {
    setApiKey($('key').value);
    connect();
  }, { once: true });
  dialog.showModal();
}

// Until the model is there; a page that was opened while the server loads shows how far it is.
async function connect() {
  for (;;) {
    try {
      const health = await getHealth();
      if (health.ready) {
        model = await getModel();
        showModel();
        offerMachine();
        return;
      }
      const progress = health.progress;
      $('model').textContent = progress ? `loading: ${progress.phase} ${Math.round(100 * (progress.fraction ?? 0))} %` : health.error?.message ?? 'loading';
    } catch (problem) {
      if (problem.status === 401) return askForKey();
      $('model').textContent = 'the server does not answer';
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

// ---- the machine

// The tab is there if the server tells about its machine, and the machine has cards.
async function offerMachine() {
  const report = await getHost().catch(() => null);
  const hasCards = Boolean(report?.gpus.length);
  for (const id of ['open-machine', 'machine-key', 'machine-key-text']) $(id).hidden = !hasCards;
}

function showChat() {
  $('machine').hidden = true;
  $('log').hidden = false;
  document.querySelector('footer').hidden = false;
  $('open-machine').setAttribute('aria-pressed', 'false');
}

// Read afresh each time: links and findings change.
async function showMachine() {
  $('log').hidden = true;
  document.querySelector('footer').hidden = true;
  $('machine').hidden = false;
  $('open-machine').setAttribute('aria-pressed', 'true');
  $('machine').replaceChildren('reading the machine');
  try {
    $('machine').replaceChildren(machineView(await getHost()));
  } catch (problem) {
    $('machine').replaceChildren(problem.message);
    if (problem.status === 401) askForKey();
  }
  $('machine').focus();
}

function toggleMachine() {
  if ($('open-machine').hidden) return;
  if ($('machine').hidden) showMachine();
  else showChat();
}

// ---- controls

function fitInput() {
  const input = $('input');
  input.style.height = 'auto';
  input.style.height = `${input.scrollHeight + 2}px`;
}

function submit() {
  const text = $('input').value;
  if (running || !text.trim()) return;
  $('input').value = '';
  fitInput();
  send(text);
}

function toggleSettings() {
  $('settings').hidden = !$('settings').hidden;
  $('open-settings').setAttribute('aria-expanded', String(!$('settings').hidden));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.documentElement.style.colorScheme = theme;
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  localStorage.setItem('evener-theme', theme);
  setTheme(theme);
}

function onKey(event) {
  if (event.key === 'Escape') {
    if (running) stop();
    else if (!$('machine').hidden) showChat();
    else if (!$('settings').hidden) toggleSettings();
  } else if (event.altKey && event.code === 'KeyN') {
    event.preventDefault();
    newChat();
  } else if (event.altKey && event.code === 'KeyM') {
    event.preventDefault();
    toggleMachine();
  } else if (event.altKey && event.code === 'KeyS') {
    event.preventDefault();
    toggleSettings();
  }
}

function wireControls() {
  $('composer').addEventListener('submit', (event) => { event.preventDefault(); submit(); });
  $('input').addEventListener('input', fitInput);
  $('input').addEventListener('keydown', (event) => {
    // isComposing: Enter that ends an input-method composition is not a wish to send.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  $('stop').addEventListener('click', stop);
  $('new-chat').addEventListener('click', newChat);
  $('open-machine').addEventListener('click', toggleMachine);
  $('open-settings').addEventListener('click', toggleSettings);
  $('theme').addEventListener('click', toggleTheme);
  $('reset-settings').addEventListener('click', () => settings.reset());
  document.addEventListener('keydown', onKey);
  for (const idea of kIdeas) {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = idea;
    button.addEventListener('click', () => send(idea));
    item.append(button);
    $('ideas').append(item);
  }
}

setTheme(localStorage.getItem('evener-theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
wireControls();
restoreChat();
connect();
