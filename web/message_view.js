// One message of the conversation on the page.

import { renderMarkdown } from './markdown.js';

function element(tag, className, text = '') {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function button(text, action) {
  const made = element('button', '', text);
  made.type = 'button';
  made.addEventListener('click', () => action(made));
  return made;
}

export function userView(text) {
  const view = element('article', 'message user');
  view.append(element('div', 'body', text));
  return view;
}

// An answer that grows. Drawing is left to the next frame, however many tokens come in between.
export class AnswerView {
  constructor(onRetry) {
    this.content = '';
    this.reasoning = '';
    this.root = element('article', 'message assistant streaming');
    this.body = element('div', 'body');
    this.meta = element('div', 'meta');
    this.root.append(this.body, this.meta);
    this.onRetry = onRetry;
    this.frame = 0;
  }

  addContent(text) {
    this.content += text;
    this.drawSoon();
  }

  addReasoning(text) {
    this.reasoning += text;
    this.drawSoon();
  }

  drawSoon() {
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = 0;
    if (this.reasoning) this.drawReasoning();
    this.body.replaceChildren(renderMarkdown(this.content));
    this.onDraw?.();
  }

  drawReasoning() {
    if (!this.thoughts) {
      this.thoughts = element('details', 'reasoning');
      this.thoughts.append(element('summary', '', 'Thinking'), element('div', ''));
      this.root.prepend(this.thoughts);
    }
    this.thoughts.lastChild.textContent = this.reasoning;
  }

  showFigures(text) {
    this.meta.replaceChildren(element('span', 'figures', text));
  }

  // Before there is text. Without a fraction nobody knows how long it takes.
  showProgress(text, fraction) {
    const bar = element('progress', '');
    bar.setAttribute('aria-label', text);
    if (fraction !== null) bar.value = fraction;
    this.meta.replaceChildren(bar, element('span', 'waiting', text));
  }

  finish(figures, error) {
    cancelAnimationFrame(this.frame);
    this.draw();
    this.root.classList.remove('streaming');
    if (error) this.root.insertBefore(element('p', 'error', error), this.meta);
    this.showFigures(figures);
    if (this.content && navigator.clipboard) {  // browsers offer none on plain http from afar
      this.meta.append(button('Copy', async (self) => {
        await navigator.clipboard.writeText(this.content);
        self.textContent = 'Copied';
      }));
    }
    if (this.onRetry) this.meta.append(button('Try again', () => this.onRetry()));
  }
}
