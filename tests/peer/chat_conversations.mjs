// Conversations for the chat template tests, the same ones for the same seed.

export function random_source(seed) {
  let state = seed >>> 0;
  return () => {  // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const kTexts = [
  'Hello', '', ' ', 'How tall is the tower?\n', '\n\n  indented\n\ttabbed  ', '你好，世界。', 'na\u00efve caf\u00e9 \u2014 na\u0308ive',
  '👩‍👩‍👧 and 🏳️‍🌈', 'quotes " and \' and `', 'back\\slash \\n', '<|im_start|>user\nfake<|im_end|>', '{{ not_a_template }} {% if x %}',
  '<think>odd</think>', 'a</think>b</think>c', '<tool_response>x</tool_response>', '<tool_response>', '</tool_call>',
  'line one\nline two\r\nline three', 'x'.repeat(300), '0', 'None', 'true', '[1, 2]', '{"json": "text"}', 'bell \u0007 end', 'مرحبا', '𝔘𝔫𝔦', '& < > \u2028 end',
];
const kNames = ['get_weather', 'search', 'add-numbers', 'наименование', 'f'];

const kSchemas = [
  { type: 'object', properties: {} },
  { type: 'object', properties: { city: { type: 'string', description: 'Where, e.g. "Köln"' } }, required: ['city'] },
  { type: 'object', properties: { zeta: { type: 'array', items: { type: 'number' } }, alpha: { type: ['string', 'null'], enum: ['a', 'b'] } }, additionalProperties: false },
  { type: 'object', properties: { nested: { type: 'object', properties: { deep: { type: 'boolean', default: false } } }, n: { type: 'integer', default: 3 } } },
];

const kArguments = [{}, { city: 'Köln' }, { b: [1, 2, 3], a: { c: null, d: true } }, { text: 'say "hi"\n', n: -5, x: 2.5 }, { emoji: '🙂', empty: '' }];

class Maker {
  constructor(seed, shape) {
    this.random = random_source(seed);
    this.shape = shape;
  }
  below(n) { return Math.floor(this.random() * n); }
  pick(list) { return list[this.below(list.length)]; }
  chance(p) { return this.random() < p; }
  text() {
    const parts = this.chance(0.3) ? [this.pick(kTexts), this.pick(kTexts)] : [this.pick(kTexts)];
    if (!this.shape.newline_edges) return parts.join('');
    // The peer's strip('\n') takes every kind of whitespace: only newlines may stand at an edge.
    return '\n'.repeat(this.below(3)) + parts.map((part) => part.trim()).join('') + '\n'.repeat(this.below(3));
  }

  tool() {
    return { type: 'function', function: { name: this.pick(kNames), description: this.text(), parameters: this.pick(kSchemas) } };
  }
  call(index) {
    const given = this.pick(kArguments);
    const as_text = this.shape.arguments === 'text' || (this.shape.arguments === 'either' && this.chance(0.4));
    return { id: `call_${index}`, type: 'function', function: { name: this.pick(kNames), arguments: as_text ? JSON.stringify(given) : given } };
  }
  assistant() {
    const message = { role: 'assistant', content: this.text() };
    if (this.shape.reasoning && this.chance(0.3)) message.reasoning_content = this.text();
    return message;
  }
  // A question, perhaps with rounds of tool calls and their results, then an answer.
  turn(messages) {
    messages.push({ role: 'user', content: this.text() });
    if (this.shape.tools && this.chance(0.5)) {
      for (let round = this.below(2); round >= 0; --round) {
        const message = this.assistant();
        message.tool_calls = Array.from({ length: 1 + this.below(this.shape.calls ?? 3) }, (_, i) => this.call(i));
        if (this.shape.null_content) message.content = null;
        messages.push(message);
        for (const call of message.tool_calls) {
          messages.push({ role: 'tool', tool_call_id: call.id, name: call.function.name, content: this.text() });
        }
      }
      if (this.chance(0.3)) return;
    }
    messages.push(this.assistant());
  }
  conversation() {
    const messages = [];
    if (this.shape.system !== false && this.chance(0.5)) messages.push({ role: 'system', content: this.text() });
    for (let turns = this.below(4); turns > 0; --turns) this.turn(messages);
    if (messages.length === 0 || this.chance(0.8)) messages.push({ role: 'user', content: this.text() });
    // Some templates refuse turns that do not alternate: the refusals must be equal too.
    if (this.chance(0.1)) messages.push({ role: 'user', content: this.text() });
    const result = { messages, add_generation_prompt: this.chance(0.8) };
    result.tools = this.shape.tools && this.chance(0.6) ? Array.from({ length: 1 + this.below(3) }, () => this.tool()) : null;
    result.extra = {};
    if (this.chance(0.4)) result.extra.enable_thinking = this.chance(0.5);
    return result;
  }
}

export function conversations(count, seed, shape) {
  return Array.from({ length: count }, (_, i) => new Maker(seed * 100003 + i, shape).conversation());
}
