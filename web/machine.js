// The Machine tab: what GET /v1/host says about cards, tree, pairs and findings. All texts become
// text nodes: names of devices come from the machine and may hold anything.

const kDepthMax = 24;       // what is deeper is not indented further
const kMatrixCardsMax = 16;

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== ''));
  return made;
}

const section = (title, ...children) => element('section', '', element('h3', '', title), ...children);
const list = (className, lines, tag = 'ul') => element(tag, className, ...lines.map((line) => element('li', '', line)));

const kUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const kGiB = 2 ** 30;

// Exact, as the terminal shows it: the largest unit without a rest.
function sizeText(bytes) {
  let unit = 0;
  for (; bytes !== 0 && bytes % 1024 === 0 && unit + 1 < kUnits.length; unit++) bytes /= 1024;
  return `${bytes} ${kUnits[unit]}`;
}

function windowText(bytes) {
  const rest = bytes % kGiB;
  return bytes < kGiB || rest === 0 ? sizeText(bytes) : `${Math.floor(bytes / kGiB)} GiB + ${sizeText(rest)}`;
}

// ---- the tree

function speedText(gts, width) {
  const generation = [2.5, 5, 8, 16, 32, 64].indexOf(gts) + 1;
  const speed = gts === null ? '' : generation ? `Gen${generation}` : `${gts} GT/s`;
  return [speed, width === null ? '' : `x${width}`].filter(Boolean).join(' ');
}

function linkPart(link) {
  if (!link) return null;
  const now = speedText(link.now_gts, link.now_w);
  const max = speedText(link.max_gts, link.max_w);
  if (!now) return max ? ['', `up to ${max}`] : null;
  const slow = link.now_gts !== null && link.max_gts !== null && link.now_gts < link.max_gts;
  const narrow = link.now_w !== null && link.max_w !== null && link.now_w < link.max_w;
  if (narrow || (slow && link.under_load)) return ['caution', `${now} of ${max}${link.under_load ? ' under load' : ''}`];
  return slow ? ['quiet', `${now} of ${max} (idle?)`] : ['', now];
}

function windowPart(name, range) {
  if (!range) return null;
  if (range.bytes === 0) return ['caution', `no ${name}`];
  return ['', `${name} ${windowText(range.bytes)}${range.base ? ` at ${range.base}` : ''}`];
}

const kPortNames = {
  root: 'root port',
  'sw-up': 'switch, upstream port',
  'sw-down': 'switch, downstream port',
  'card-up': 'switch on the card, upstream port',
  'card-down': 'switch on the card, downstream port',
};

function barPart(row) {
  const bar = row.bars?.find((each) => each.index === row.vram_bar);
  if (!bar || bar.bytes === null) return ['quiet', 'BAR size unknown'];
  if (bar.bytes === 0) return ['bad', `BAR ${bar.index} has no address`];
  const text = `BAR ${bar.index}: ${sizeText(bar.bytes)}${bar.base ? ` at ${bar.base}` : ''}`;
  if (row.vram === null) return ['', text];
  return [bar.bytes >= row.vram ? 'good' : 'bad', text];
}

const plain = (text) => (text === null || text === undefined || text === '' ? null : ['', text]);

function portParts(row) {
  return [
    plain(kPortNames[row.port] ?? 'bridge'),
    row.port === 'sw-up' ? plain(row.description) : null,
    row.slot ? plain(`slot ${row.slot}`) : null,
    linkPart(row.link),
    windowPart('window', row.window),
    row.acs_redirects ? ['caution', 'ACS redirects'] : null,
  ];
}

function rowParts(row) {
  switch (row.kind) {
    case 'root-bus':
      return [plain('root bus'), row.numa >= 0 && row.numa !== null ? plain(`node ${row.numa}`) : null,
        row.first ? plain(`first device ${row.first}`) : null, windowPart('window above 4 GiB', row.window)];
    case 'gpu':
      return [plain(row.model), plain(row.bdf), plain(row.gfx), row.vram === null ? null : plain(`VRAM ${sizeText(row.vram)}`),
        barPart(row), linkPart(row.link), row.driver === '' ? plain('no driver') : plain(row.driver)];
    case 'more':
      return [['quiet', `and ${row.left_out} more`]];
    case 'unknown':
      return [['quiet', row.name ? 'not described' : 'place in the tree not known']];
    default:
      return row.window !== undefined ? portParts(row) : [plain(row.description)];
  }
}

function rowView(row) {
  const view = element('span', '');
  if (row.name) view.append(element(row.kind === 'gpu' ? 'strong' : 'code', '', row.name), ' ');
  rowParts(row).filter(Boolean).forEach(([tone, text], index) => {
    view.append(index ? ', ' : '', element('span', tone, text));
  });
  return view;
}

// Rows with a depth become lists in lists.
function treeView(rows) {
  const root = element('ul', 'tree');
  const open = [root];   // the list that rows of each depth go to
  for (const row of rows) {
    const depth = Math.min(row.depth, kDepthMax, open.length - 1);
    open.length = depth + 1;
    const item = element('li', '', rowView(row));
    const below = element('ul', '');
    item.append(below);
    open[depth].append(item);
    open.push(below);
  }
  root.querySelectorAll('ul:empty').forEach((empty) => empty.remove());
  return root;
}

// ---- pairs

const wordOf = (pair) => (pair.verdict === 'works' && !pair.verified ? 'allowed' : pair.verdict);
const kTones = { works: 'good', degraded: 'caution', unknown: 'caution', unsafe: 'bad', blocked: 'bad' };
const kRoutes = {
  switch: 'through a switch',
  root: 'through the host bridge',
  'cross-host': 'from one host bridge to another',
  unknown: 'by a route that is not known',
};

function matrixView(names, pairs) {
  const known = new Map(pairs.flatMap((pair) => [[`${pair.a}\n${pair.b}`, pair], [`${pair.b}\n${pair.a}`, pair]]));
  const header = (name, scope) => Object.assign(element('th', '', name), { scope });
  const head = element('tr', '', element('td', ''), ...names.map((name) => header(name, 'col')));
  const rows = names.map((a) => element('tr', '', header(a, 'row'), ...names.map((b) => {
    const pair = known.get(`${a}\n${b}`);
    return pair ? element('td', kTones[pair.verdict], wordOf(pair)) : element('td', 'quiet', a === b ? '-' : '?');
  })));
  return element('div', 'wide-table', element('table', '', element('thead', '', head), element('tbody', '', ...rows)));
}

function groupsOf(pairs) {
  const groups = new Map();
  for (const pair of pairs) {
    const key = JSON.stringify([pair.verdict, pair.verified, pair.route, pair.rules, pair.because]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(pair);
  }
  return [...groups.values()];
}

function groupView(pairs) {
  const [first] = pairs;
  const rules = first.rules.length ? ` (${first.rules.join(', ')})` : '';
  return element('li', '', element('strong', '', pairs.map((pair) => `${pair.a}-${pair.b}`).join(', ')), ': ',
    element('span', kTones[first.verdict], wordOf(first)), `, ${kRoutes[first.route]}${rules}`,
    first.because ? element('p', '', first.because) : null);
}

function pairsView(report) {
  if (report.pairs.length === 0) return null;
  const isAllowed = report.pairs.some((pair) => wordOf(pair) === 'allowed');
  return section('Peer-to-peer, pair by pair',
    report.gpus.length <= kMatrixCardsMax ? matrixView(report.gpus, report.pairs) : null,
    element('ul', '', ...groupsOf(report.pairs).map(groupView)),
    isAllowed ? element('p', 'quiet', 'allowed: every gate passes and it should work, but nobody has compared the bytes that arrive') : null);
}

// ---- findings, fixes and the rest

const kSeverities = { pass: 'good', note: 'quiet', warning: 'caution', problem: 'bad' };

// Both directions of a pair as one: "A-B".
function joinedPairs(pairs) {
  const otherWay = (pair) => pair.split('>').reverse().join('>');
  const all = new Set(pairs);
  return pairs.filter((pair, index) => !pair.includes('>') || !pairs.slice(0, index).includes(otherWay(pair)))
    .map((pair) => (pair.includes('>') && all.has(otherWay(pair)) ? pair.replace('>', '-') : pair));
}

function findingView(finding) {
  const whom = (finding.pairs.length ? joinedPairs(finding.pairs) : finding.gpus).join(', ');
  return element('article', `finding ${finding.severity}`,
    element('h4', '', element('span', kSeverities[finding.severity], `${finding.severity} ${finding.rule}`), ` ${finding.title}`,
      whom ? element('span', 'quiet', ` [${whom}]`) : null),
    finding.evidence.length ? list('', finding.evidence) : null,
    ...finding.says.map((said) => element('p', '', said)),
    finding.fixes.length ? element('p', 'quiet', `fixes: ${finding.fixes.join(', ')}`) : null);
}

function findingsView(report) {
  if (report.findings.length === 0) return null;
  const passed = report.findings.filter((finding) => finding.severity === 'pass');
  const others = report.findings.filter((finding) => finding.severity !== 'pass');
  const more = passed.length ? element('details', '', element('summary', '', `${passed.length} gates passed`), ...passed.map(findingView)) : null;
  return section('Findings', ...others.map(findingView), more);
}

function fixView(fix) {
  const tone = fix.risk === 'high' || fix.risk === 'medium to high' ? 'bad' : fix.risk === 'medium' ? 'caution' : 'quiet';
  return element('li', '', element('strong', '', fix.id), ` ${fix.action ?? ''} `,
    element('span', tone, `(risk: ${fix.risk}${fix.undo ? `; undone by: ${fix.undo}` : ''})`),
    fix.verify ? element('p', '', `then check: ${fix.verify}`) : null,
    fix.command ? element('pre', '', fix.command) : null);
}

function fixesView(report) {
  if (report.fix_details.length === 0) return null;
  return section('What to change, in the order to try', element('ol', '', ...report.fix_details.map(fixView)));
}

function adviceView(report) {
  if (report.advice.length === 0) return null;
  return section('How to use the cards for one model, the best first', element('ul', '', ...report.advice.map((advice) =>
    element('li', '', element('strong', '', advice.mode), ` on ${advice.gpus.join(', ')}${advice.why ? `: ${advice.why}` : ''}`, list('', advice.arithmetic)))));
}

function powerView({ power }) {
  if (power.arithmetic.length === 0) return null;
  return section('Power supply, an estimate', list('', power.arithmetic),
    power.system_watts === null ? null : element('p', '', element('strong', '', `together ${Math.round(power.system_watts)} W`)));
}

function kernelView(report) {
  return report.kernel_help.length ? section('Lines to copy for the kernel', element('pre', '', report.kernel_help.join('\n'))) : null;
}

function unknownView(report) {
  const missing = report.missing.map(({ what, why, remedy }) => `${what}${why ? `: ${why}` : ''}${remedy ? `; ${remedy}` : ''}`);
  return [
    missing.length ? section('What could not be read', list('', missing)) : null,
    report.contradictions.length ? section('Where two sources disagree', list('', report.contradictions)) : null,
  ];
}

function factsView({ machine }) {
  const facts = element('dl', '');
  const add = (name, value) => {
    if (value !== null && value !== '') facts.append(element('dt', '', name), element('dd', '', value));
  };
  add('Board', [machine.board, machine.bios && `BIOS ${machine.bios}`].filter(Boolean).join(', '));
  add('CPU', [machine.cpu, machine.sockets && `${machine.sockets} socket${machine.sockets === 1 ? '' : 's'}`].filter(Boolean).join(', '));
  add('Kernel', machine.kernel);
  add('IOMMU', machine.iommu === 'identity' ? 'pass-through (identity)' : machine.iommu ?? 'unknown');
  return facts;
}

function toneOf(report) {
  const tones = [...report.pairs.map((pair) => kTones[pair.verdict]), ...report.findings.map((finding) => kSeverities[finding.severity])];
  return ['bad', 'caution'].find((tone) => tones.includes(tone)) ?? 'good';
}

export function machineView(report) {
  const parts = [
    element('h2', '', 'This machine'),
    element('p', `verdict ${toneOf(report)}`, report.summary),
    factsView(report),
    report.tree.length ? section('Where the cards are', treeView(report.tree)) : null,
    pairsView(report),
    findingsView(report),
    fixesView(report),
    adviceView(report),
    powerView(report),
    kernelView(report),
    ...unknownView(report),
  ];
  return element('div', 'report', ...parts);
}
