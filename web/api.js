// What the page asks of the server. Paths are relative, so the page works behind a prefix too.

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let apiKey = sessionStorage.getItem('evener-key') ?? '';

export function setApiKey(key) {
  apiKey = key;
  sessionStorage.setItem('evener-key', key);
}

function headers(extra = {}) {
  return apiKey ? { ...extra, Authorization: `Bearer ${apiKey}` } : extra;
}

async function failure(response) {
  const text = await response.text();
  try {
    return new ApiError(JSON.parse(text).error.message, response.status);
  } catch {
    return new ApiError(`the server answered ${response.status}: ${text.slice(0, 300)}`, response.status);
  }
}

export async function getHealth() {
  const response = await fetch('health', { cache: 'no-store' });
  return { ready: response.ok, ...(await response.json().catch(() => ({}))) };
}

export async function getModel() {
  return (await getJson('v1/models')).data[0];
}

async function getJson(path) {
  const response = await fetch(path, { headers: headers(), cache: 'no-store' });
  if (!response.ok) throw await failure(response);
  return response.json();
}

// The report on the server's machine; null if the server does not tell. Asked first whether it does,
// since browsers report a 404 as a fault of the page.
export async function getHost() {
  const version = await getJson('version');
  return version.host_exposed ? getJson('v1/host') : null;
}

// The data of each event of an event stream, as it comes.
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let pending = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    pending += value;
    const blocks = pending.split('\n\n');
    pending = blocks.pop();
    for (const block of blocks) {
      const data = block.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
      if (data.length > 0) yield data.join('\n');
    }
  }
}

// Streams one answer. `on.delta(delta)` gets each piece, `on.chunk(chunk)` each whole chunk,
// `on.progress(progress)` how far queue and prompt are. Resolves with the reason of the end;
// aborting `signal` rejects with an AbortError.
export async function streamChat(body, signal, on) {
  const response = await fetch('v1/chat/completions', {
    method: 'POST',
    headers: headers({ 'Content-Type': 'application/json' }),
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true }, return_progress: true }),
    signal,
  });
  if (!response.ok) throw await failure(response);
  let finish = null;
  for await (const data of events(response.body)) {
    if (data === '[DONE]') return finish;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new ApiError(chunk.error.message, 500);
    on.chunk(chunk);
    if (chunk.prompt_progress) on.progress(chunk.prompt_progress);
    const choice = chunk.choices?.[0];
    if (choice?.delta) on.delta(choice.delta);
    finish = choice?.finish_reason ?? finish;
  }
  throw new ApiError('the connection ended before the answer did', 0);
}
