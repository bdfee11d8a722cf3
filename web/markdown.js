// The part of Markdown that models write, as DOM nodes. Text never becomes markup, so nothing that a
// model says can run.

const kInline = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*/g;

function inline(parent, text) {
  let from = 0;
  for (const match of text.matchAll(kInline)) {
    parent.append(text.slice(from, match.index));
    const [whole, , code, strong, emphasis] = match;
    const element = document.createElement(code !== undefined ? 'code' : strong !== undefined ? 'strong' : 'em');
    element.textContent = code ?? strong ?? emphasis;
    parent.append(element);
    from = match.index + whole.length;
  }
  parent.append(text.slice(from));
}

function paragraph(lines) {
  const element = document.createElement('p');
  lines.forEach((line, index) => {
    if (index > 0) element.append(document.createElement('br'));
    inline(element, line);
  });
  return element;
}

function codeBlock(lines) {
  const pre = document.createElement('pre');
  const code = document.createElement('code');
  code.textContent = lines.join('\n');
  pre.append(code);
  return pre;
}

const kItem = /^\s*(?:([-*+])|(\d+)[.)])\s+(.*)$/;
const kFence = /^\s*(```+|~~~+)/;
const kHeading = /^#{1,6}\s+(.*)$/;

function list(items, ordered, start) {
  const element = document.createElement(ordered ? 'ol' : 'ul');
  if (ordered && start > 1) element.start = start;
  for (const text of items) {
    const item = document.createElement('li');
    inline(item, text);
    element.append(item);
  }
  return element;
}

// A fence that is still open, as in an answer that streams, runs to the end of the text.
function fenceEnd(lines, begin, mark) {
  let end = begin;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end++;
  return end;
}

function listEnd(lines, begin, ordered) {
  let end = begin;
  while (end < lines.length) {
    const item = kItem.exec(lines[end]);
    if (!item || (item[2] !== undefined) !== ordered) break;
    end++;
  }
  return end;
}

function paragraphEnd(lines, begin) {
  let end = begin + 1;
  while (end < lines.length && lines[end].trim() && !kItem.test(lines[end]) && !kFence.test(lines[end]) && !kHeading.test(lines[end])) end++;
  return end;
}

export function renderMarkdown(text) {
  const fragment = document.createDocumentFragment();
  const lines = text.split('\n');
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = kFence.exec(line);
    const heading = kHeading.exec(line);
    const item = kItem.exec(line);
    if (!line.trim()) {
      at++;
    } else if (fence) {
      const end = fenceEnd(lines, at + 1, fence[1]);
      fragment.append(codeBlock(lines.slice(at + 1, end)));
      at = end + 1;
    } else if (heading) {
      const element = document.createElement('h3');
      inline(element, heading[1]);
      fragment.append(element);
      at++;
    } else if (item) {
      const ordered = item[2] !== undefined;
      const end = listEnd(lines, at, ordered);
      fragment.append(list(lines.slice(at, end).map((each) => kItem.exec(each)[3]), ordered, Number(item[2])));
      at = end;
    } else {
      const end = paragraphEnd(lines, at);
      fragment.append(paragraph(lines.slice(at, end)));
      at = end;
    }
  }
  return fragment;
}
