"""What the end-to-end tests share: starting the real program, asking it things, checking answers.

Only Python's standard library. A test is a function whose name begins with test_; run_tests() runs
those of a module and prints a line each. Exit status 0: all passed; 1: some failed; 77: skipped.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

DEADLINE_S = 120  # of anything a test waits for; generous, for slow and busy machines
SKIPPED = 77


def wait_until(condition, what):
    """Returns the first true value of condition(); fails after the deadline."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {DEADLINE_S} s in vain for {what}")


class Server:
    """`evener serve` on a free port of the loopback address, ready when the block begins."""

    def __init__(self, evener, *arguments, environment=None):
        self.command = [evener, "serve", "--port", "0", *arguments]
        self.environment = {**os.environ, **(environment or {})}
        self.lines = []

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, errors="replace", env=self.environment)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        self.url = wait_until(self._ready_url, "the server to be ready")
        return self

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def _ready_url(self):
        if self.process.poll() is not None:
            raise AssertionError("the server ended: " + "".join(self.lines))
        match = re.search(r"ready: (http://\S+)", "".join(self.lines))
        return match and match.group(1)

    def log(self):
        return "".join(self.lines)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(DEADLINE_S)
        self.reader.join()
        return status

    def __exit__(self, *_):
        self.stop()


def request(url, body=None, headers=None, method=None, timeout=DEADLINE_S):
    """(status, headers, text). A body that is no bytes is sent as JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    asked = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json", **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def run(*command, stdin="", environment=None):
    """(exit status, stdout, stderr) of a program that ends by itself."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, errors="replace", timeout=DEADLINE_S,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr


def equal(got, want):
    if got != want:
        raise AssertionError(f"got:\n{got!r}\nwanted:\n{want!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in:\n{text}")


def run_tests(module_globals, *arguments):
    failed = 0
    tests = [(name, function) for name, function in module_globals.items() if name.startswith("test_") and inspect.isfunction(function)]
    for name, function in tests:
        start = time.monotonic()
        try:
            function(*arguments)
            print(f"passed  {name} ({time.monotonic() - start:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
