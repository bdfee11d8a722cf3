"""The chat page in headless Chromium, driven through WebDriver: a conversation is typed, streamed and
stopped, in light and dark, wide and narrow; nothing is asked of any other host.

With EVENER_SCREENSHOTS=FOLDER the pictures are kept there.
"""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

from harness import SKIPPED, Server, contains, equal, request, run_tests, wait_until

CHROMIUM_FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,800"]


class Browser:
    """A WebDriver session; only what these tests need."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen([shutil.which("chromedriver"), f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._is_up, "chromedriver")
        options = {"binary": shutil.which("chromium"), "args": CHROMIUM_FLAGS + [f"--user-data-dir={self.profile}"]}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}
        self.session = self._call("POST", "/session", {"capabilities": capabilities})["sessionId"]

    def _is_up(self):
        try:
            return self._call("GET", "/status")["ready"]
        except OSError:
            return False

    def _call(self, method, path, body=None):
        status, _, text = request(f"http://127.0.0.1:{self.port}{path}", body, method=method)
        value = json.loads(text)["value"]
        if status != 200:
            raise AssertionError(f"WebDriver {method} {path}: {value}")
        return value

    def call(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def type(self, selector, text):
        element = next(iter(self.call("POST", "/element", {"using": "css selector", "value": selector}).values()))
        self.call("POST", f"/element/{element}/value", {"text": text})

    def click(self, selector):
        element = next(iter(self.call("POST", "/element", {"using": "css selector", "value": selector}).values()))
        self.call("POST", f"/element/{element}/click", {})

    def resize(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def screenshot(self, name):
        folder = os.environ.get("EVENER_SCREENSHOTS")
        if folder:
            with open(os.path.join(folder, name + ".png"), "wb") as file:
                file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def close(self):
        self.call("DELETE", "")
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def text_of(browser, selector):
    return browser.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)


def answer_is_done(browser, count):
    return browser.run("return document.querySelectorAll('.assistant:not(.streaming) .figures').length") == count


def test_a_conversation(server, browser):
    browser.open(server.url + "/")
    wait_until(lambda: "tokens of context" in text_of(browser, "#model"), "the model's facts")
    browser.screenshot("1-welcome")
    browser.type("#input", "Tell me a story about a dog.\ue007")
    wait_until(lambda: answer_is_done(browser, 1), "the answer")
    figures = text_of(browser, ".assistant .figures")
    contains(figures, "first token after")
    contains(figures, "tokens/s")
    assert len(text_of(browser, ".assistant .body").split()) > 5
    equal(text_of(browser, ".user .body"), "Tell me a story about a dog.")
    equal(browser.run("return document.activeElement.id"), "input")
    browser.screenshot("2-answer")


def test_the_conversation_survives_a_reload(server, browser):
    before = text_of(browser, ".assistant .body")
    browser.open(server.url + "/")
    equal(text_of(browser, ".assistant .body"), before)


def test_an_answer_can_be_stopped(server, browser):
    browser.run("document.getElementById('setting-max_tokens').value = ''; document.getElementById('setting-temperature').value = 1.5;")
    # An answer that does not end by itself: the page's own requests, with the model's end ignored, and
    # read slowly, since a fast machine is through with 1500 tokens before anybody can press a button.
    browser.run("""
      const original = window.fetch;
      const slow = () => new TransformStream({
        transform: async (piece, out) => {
          await new Promise((done) => setTimeout(done, 50));
          for (let at = 0; at < piece.length; at += 512) {
            out.enqueue(piece.slice(at, at + 512));
            await new Promise((done) => setTimeout(done, 50));
          }
        }});
      window.fetch = async (url, options) => {
        if (!options?.body) return original(url, options);
        options.body = JSON.stringify({ ...JSON.parse(options.body), ignore_eos: true, max_tokens: 1500 });
        const answer = await original(url, options);
        return new Response(answer.body.pipeThrough(slow()), answer);
      };""")
    browser.type("#input", "Tell me a story about the sea.\ue007")
    wait_until(lambda: len(text_of(browser, ".streaming .body")) > 40, "text to stream")
    equal(browser.run("return [document.getElementById('send').hidden, document.getElementById('stop').hidden]"), [True, False])
    browser.screenshot("3-streaming")
    browser.click("#stop")
    wait_until(lambda: answer_is_done(browser, 2), "the answer to stop")
    contains(text_of(browser, ".message:last-child .figures"), "stopped")
    wait_until(lambda: "evener_requests_running 0" in request(server.url + "/metrics")[2], "the server to let it go")


def ask_and_look_away(port, body):
    """The connection of a request whose answer nobody reads."""
    text = json.dumps(body)
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                       f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
    return connection


def test_the_page_says_who_is_ahead_and_how_far_the_prompt_is(server, browser):
    browser.open(server.url + "/")
    browser.run("""
      window.waits = [];
      new MutationObserver(() => {
        const text = document.querySelector('.waiting')?.innerText;
        if (text && window.waits.at(-1) !== text) window.waits.push(text);
      }).observe(document.getElementById('messages'), { childList: true, subtree: true });""")
    # Hold the only place, one after the other, until they are closed.
    holders = [ask_and_look_away(int(server.url.rsplit(":", 1)[1]), {"prompt": "The", "stream": True, "ignore_eos": True, "max_tokens": 100000}) for _ in range(8)]
    wait_until(lambda: "evener_requests_running 1" in request(server.url + "/metrics")[2], "somebody to hold the place")
    browser.run("document.getElementById('setting-max_tokens').value = '4'")
    browser.run("document.getElementById('input').value = 'word '.repeat(700)")
    browser.type("#input", "\ue007")
    wait_until(lambda: any("queue" in text or "ahead" in text for text in browser.run("return window.waits")), "the place in the queue")
    browser.screenshot("8-queue")
    for holder in holders:
        holder.close()
    wait_until(lambda: answer_is_done(browser, 3), "the answer")
    read = [text for text in browser.run("return window.waits") if text.startswith("reading the prompt: ")]
    assert read and all(re.fullmatch(r"reading the prompt: \d+ of \d+ tokens( \(\d+ known already\))?", text) for text in read), read
    equal(browser.run("return document.querySelectorAll('.waiting').length"), 0)


def test_keys_and_settings(server, browser):
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {altKey: true, code: 'KeyS'}))")
    equal(browser.run("return document.getElementById('settings').hidden"), False)
    contains(text_of(browser, "#facts"), "qwen35")
    browser.run("document.getElementById('system').value = 'Be brief.'; document.getElementById('system').dispatchEvent(new Event('change'))")
    browser.screenshot("4-settings")
    browser.click("#theme")
    browser.screenshot("5-other-theme")
    browser.click("#theme")
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    equal(browser.run("return document.getElementById('settings').hidden"), True)


def test_a_new_conversation_is_empty_and_markup_stays_text(server, browser):
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {altKey: true, code: 'KeyN'}))")
    equal(browser.run("return document.querySelectorAll('.message').length"), 0)
    browser.run("""localStorage.setItem('evener-chat', JSON.stringify([
      {role: 'user', content: '<img src=x onerror=document.title=1>'},
      {role: 'assistant', content: '# Title\\n\\n**bold** and `code <b>`\\n\\n```\\n<script>document.title=2</script>\\n```\\n\\n1. one\\n2. two'}]))""")
    browser.open(server.url + "/")
    equal(browser.run("return document.title"), "Evener")
    equal(browser.run("return document.querySelectorAll('#messages script, #messages img').length"), 0)
    equal(text_of(browser, ".assistant pre code"), "<script>document.title=2</script>")
    equal(browser.run("return document.querySelectorAll('.assistant ol li').length"), 2)
    browser.screenshot("6-markdown")


def test_a_narrow_screen_needs_no_sideways_scrolling(server, browser):
    browser.resize(500, 800)  # the narrowest that headless Chromium takes
    browser.run("document.documentElement.style.width = '360px'; document.body.style.width = '360px'")
    equal(browser.run("return document.body.scrollWidth <= 360"), True)
    browser.run("document.documentElement.style.width = ''; document.body.style.width = ''")
    browser.screenshot("7-narrow")
    browser.resize(1200, 800)


def test_the_machine_tab_is_there_if_the_server_tells_about_cards(server, browser):
    browser.open(server.url + "/")
    wait_until(lambda: not browser.run("return document.getElementById('open-machine').hidden"), "the tab")
    browser.click("#open-machine")
    wait_until(lambda: text_of(browser, "#machine .verdict"), "the report")
    report = json.loads(request(server.url + "/v1/host")[2])
    equal(text_of(browser, "#machine .verdict"), report["summary"])
    equal(browser.run("return [...document.querySelectorAll('#machine .tree strong')].map((each) => each.innerText)"), ["A", "B", "C", "D"])
    # C hangs where it does on the machine: bus, root port, switch, its leg, the card's own switch.
    equal(browser.run("""
      let depth = 0;
      const card = [...document.querySelectorAll('#machine .tree strong')].find((each) => each.innerText === 'C');
      for (let at = card; !at.classList.contains('tree'); at = at.parentElement) depth += at.tagName === 'UL';
      return depth;"""), 6)
    contains(text_of(browser, "#machine .tree .bad"), "BAR 0: 256 MiB")
    equal(browser.run("return [...document.querySelectorAll('#machine tbody tr:nth-child(3) td')].map((each) => each.innerText)"), ["blocked", "blocked", "-", "blocked"])
    equal(browser.run("return document.querySelectorAll('#machine ol > li').length"), len(report["fixes"]))
    equal(browser.run("return [document.getElementById('log').hidden, document.querySelector('footer').hidden]"), [True, True])
    browser.screenshot("9-machine")
    browser.run("document.getElementById('machine').scrollTop = 700")
    browser.screenshot("10-machine-findings")
    browser.click("#theme")
    browser.screenshot("11-machine-other-theme")
    browser.click("#theme")
    browser.resize(500, 800)
    browser.run("document.documentElement.style.width = '360px'; document.body.style.width = '360px'")
    equal(browser.run("return document.body.scrollWidth <= 360"), True)
    browser.screenshot("12-machine-narrow")
    browser.run("document.documentElement.style.width = ''; document.body.style.width = ''")
    browser.resize(1200, 800)
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    equal(browser.run("return [document.getElementById('machine').hidden, document.getElementById('log').hidden]"), [True, False])
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {altKey: true, code: 'KeyM'}))")
    equal(browser.run("return document.getElementById('machine').hidden"), False)
    browser.click("#new-chat")
    equal(browser.run("return document.getElementById('machine').hidden"), True)


def test_nothing_was_asked_of_other_hosts_and_nothing_failed(server, browser):
    asked = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    urls = [each["params"]["request"]["url"] for each in asked if each["method"] == "Network.requestWillBeSent"]
    assert any(url.startswith(server.url) for url in urls), urls
    own = (server.url, "data:", "chrome:")  # chrome: is the browser's own empty first tab
    equal([url for url in urls if not url.startswith(own)], [])
    equal([entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"], [])


def test_a_server_that_was_not_told_to_shows_no_machine_tab(server, browser):
    with Server(server.command[0], "--parallel", "1") as other:
        browser.open(other.url + "/")
        wait_until(lambda: "tokens of context" in text_of(browser, "#model"), "the model's facts")
        wait_until(lambda: browser.run("return performance.getEntriesByName(new URL('version', location.href).href).length"), "the question")
        equal(browser.run("return document.getElementById('open-machine').hidden"), True)
        browser.run("document.dispatchEvent(new KeyboardEvent('keydown', {altKey: true, code: 'KeyM'}))")
        equal(browser.run("return document.getElementById('machine').hidden"), True)
        equal([entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"], [])


def main(evener, data):
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: chromium and chromium-driver are not installed")
        sys.exit(SKIPPED)
    machine = ("--expose-host", "--host-facts", os.path.join(data, "doctor", "two_sockets.json"))
    with Server(evener, "--parallel", "1", "--chunk", "64", *machine) as server:
        browser = Browser()
        try:
            run_tests(globals(), server, browser)
        finally:
            browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
