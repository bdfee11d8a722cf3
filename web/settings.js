// Settings of the page: what they are called, what they may be, and where they are kept.

const kSampling = [
  { name: 'temperature', label: 'Temperature', value: 0.8, min: 0, max: 2, step: 0.05 },
  { name: 'top_p', label: 'Top-p', value: 0.95, min: 0.01, max: 1, step: 0.01 },
  { name: 'top_k', label: 'Top-k (0: off)', value: 0, min: 0, max: 1000, step: 1 },
  { name: 'min_p', label: 'Min-p', value: 0, min: 0, max: 1, step: 0.01 },
  { name: 'repetition_penalty', label: 'Repeat penalty', value: 1, min: 0.5, max: 2, step: 0.01 },
  { name: 'max_tokens', label: 'Longest answer', value: '', min: 1, step: 1, placeholder: 'no limit' },
  { name: 'seed', label: 'Seed', value: '', min: 0, step: 1, placeholder: 'random' },
];

const kStorageKey = 'evener-settings';

function stored() {
  try {
    return JSON.parse(localStorage.getItem(kStorageKey)) ?? {};
  } catch {
    return {};
  }
}

export class Settings {
  constructor(samplingElement, systemElement, thinkingElement) {
    this.inputs = new Map();
    this.system = systemElement;
    this.thinking = thinkingElement;
    for (const setting of kSampling) samplingElement.append(this.field(setting));
    this.load(stored());
    for (const element of [systemElement, thinkingElement, ...this.inputs.values()]) element.addEventListener('change', () => this.save());
  }

  field(setting) {
    const label = document.createElement('label');
    const input = document.createElement('input');
    input.type = 'number';
    input.id = `setting-${setting.name}`;
    for (const key of ['min', 'max', 'step', 'placeholder']) if (setting[key] !== undefined) input[key] = setting[key];
    label.append(setting.label, input);
    this.inputs.set(setting.name, input);
    return label;
  }

  load(values) {
    this.system.value = values.system ?? '';
    this.thinking.checked = values.thinking ?? true;
    for (const setting of kSampling) this.inputs.get(setting.name).value = values[setting.name] ?? setting.value;
  }

  save() {
    const values = { system: this.system.value, thinking: this.thinking.checked };
    for (const [name, input] of this.inputs) values[name] = input.value;
    localStorage.setItem(kStorageKey, JSON.stringify(values));
  }

  reset() {
    this.load({});
    this.save();
  }

  // The fields of a request that differ from what the server does anyway. An empty or impossible
  // value is left out: the field is marked in the page.
  request() {
    const body = {};
    for (const [name, input] of this.inputs) {
      if (input.value !== '' && input.checkValidity()) body[name] = Number(input.value);
    }
    return body;
  }
}
