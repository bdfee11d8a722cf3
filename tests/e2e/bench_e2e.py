"""`evener bench` as a person meets it: small experiments against a server of its own, and what it says
when something is in the way. Figures are not judged here: the machine that tests is a busy one."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from harness import DEADLINE_S, Server, contains, equal, run, run_tests, wait_until

EXPERIMENTS = ("all", "sweep", "concurrency", "load", "starvation", "prefix", "spec", "soak", "quality", "coldstart", "kernel", "link")


class Results:
    """A store of its own and the appendix of the run that was made last."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "results.sqlite")
        self.json = os.path.join(self.folder.name, "run.json")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def words(self, *words):
        return ("bench", *words, "--store", self.store, "--json", self.json)

    def run(self, evener, *words):
        """The appendix and the text of a run that went to its end."""
        status, out, err = run(evener, *self.words(*words))
        assert os.path.exists(self.json), (status, out, err)
        with open(self.json, encoding="utf-8") as file:
            appendix = json.load(file)
        # 0 says that every cell is good, and 1 that one is not; a busy machine may void some.
        all_good = all(cell["state"] == "complete" for cell in appendix["cells"])
        has_void = any(finding["severity"] == "voids" for finding in appendix["findings"])
        equal((status, appendix["run"]["state"]), (0 if all_good and not has_void else 1, "complete"))
        contains(out, f"Run {appendix['run']['id']} is kept in {self.store}\n")
        return appendix, out, err


def keys(appendix):
    return [cell["key"] for cell in appendix["cells"]]


def servers(mark):
    """Those that were started with --alias mark: a word of their own, unlike in the bench's command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def test_help_tells_the_experiments_and_their_own_options(evener, data):
    status, out, err = run(evener, "bench", "--help")
    equal((status, err), (0, ""))
    for name in EXPERIMENTS:
        contains(out, f"\n  {name} ")
    status, out, _ = run(evener, "bench", "sweep", "--help")
    equal(status, 0)
    contains(out, "--lengths")
    contains(out, "--url")
    assert "--rates" not in out, out
    equal(run(evener, "bench")[0], 2)


def test_an_unknown_experiment_is_a_usage_error(evener, data):
    status, _, err = run(evener, "bench", "sweeep")
    equal(status, 2)
    contains(err, "evener: cannot run bench: 'sweeep': there is no such command\n  commands are all, sweep, ")


def test_sweep_starts_its_own_server_and_ends_it(evener, data):
    mark = f"sweep-of-{os.getpid()}"
    with Results() as results:
        appendix, out, err = results.run(evener, "sweep", "--lengths", "128,512", "--rounds", "2", "--output-tokens", "16",
                                         "--note", "two lengths", "--server-args", f"--alias {mark}")
        equal(keys(appendix), ["sweep/128/1", "sweep/512/1", "sweep/512/2", "sweep/128/2"])
        equal(appendix["caliber"]["server.kind"], "evener")
        equal(appendix["caliber"]["model.id"], mark)
        equal(appendix["caliber"]["option.sweep.lengths"], "128,512")
        contains(appendix["caliber"]["method.cache"], "flushed")
        assert all(cell["figures"]["ttft_ms"]["p50"] > 0 for cell in appendix["cells"] if cell["state"] == "complete")
        contains(out, "Caliber")
        contains(err, "sweep: about ")
        contains(run(evener, "bench", "list", "--store", results.store)[1], "two lengths")
        equal(run(evener, "bench", "verify", "--store", results.store)[0], 0)
    equal(servers(mark), [])


def test_a_server_that_runs_is_measured_and_left_alone(evener, data):
    with Server(evener, "--api-key", "secret") as server, Results() as results:
        url = server.url
        appendix, _, _ = results.run(evener, "concurrency", "--levels", "1,2", "--time", "0.5", "--rounds", "1", "--output-tokens",
                                     "16", "--url", url, "--api-key", "secret")
        equal(keys(appendix), ["concurrency/1/1", "concurrency/2/1"])
        equal(appendix["caliber"]["server.url_kind"], "loopback")
        assert "secret" not in json.dumps(appendix)

        words = results.words("sweep", "--url", url)
        status, out, err = run(evener, *words)
        equal((status, out), (1, ""))
        contains(err, "--api-key")
        status, _, err = run(evener, *words, "--api-key", "wrong")
        equal(status, 1)
        contains(err, "--api-key")
        status, _, err = run(evener, *words, "--api-key", "secret", "--model", "another")
        equal(status, 1)
        contains(err, "another")
        contains(err, "evener-tiny35")
        equal(server.stop(), 0)
        status, _, err = run(evener, *words)
        equal(status, 1)
        contains(err, url.removeprefix("http://"))


def test_load_sends_at_its_rates_and_replays_traces(evener, data):
    with Results() as results:
        appendix, _, _ = results.run(evener, "load", "--rates", "5,20", "--time", "1", "--rounds", "1", "--output-tokens", "16",
                                     "--ttft-ms", "10000")
        equal(keys(appendix)[0], "load/5/1")
        equal(appendix["caliber"]["option.load.ttft_ms"], "10000")
        trace = os.path.join(results.folder.name, "trace.jsonl")
        with open(trace, "w", encoding="utf-8") as file:
            for i in range(5):
                file.write(json.dumps({"timestamp": 50 * i, "input_length": 800, "output_length": 8, "hash_ids": [1, 10 + i]}) + "\n")
        appendix, _, _ = results.run(evener, "load", "--trace", trace, "--rounds", "1")
        equal(keys(appendix), ["load/trace/1"])
        equal(appendix["cells"][0]["target"]["trace"], "trace.jsonl")
        with open(trace, "a", encoding="utf-8") as file:
            file.write("nonsense\n")
        status, _, err = run(evener, *results.words("load", "--trace", trace))
        equal(status, 1)
        contains(err, f"{trace}, line 6")


def test_starvation_holds_gaps_against_chunks(evener, data):
    with Results() as results:
        appendix, _, _ = results.run(evener, "starvation", "--attackers", "1500", "--rounds", "1", "--victim-tokens", "200")
        equal(keys(appendix), ["starvation/1500/1"])
        figures = appendix["cells"][0]["figures"]
        equal((figures["chunk_tokens"]["p50"], figures["num_gaps_expected"]["p50"]), (512, 3))
        assert figures["attacker_ttft_alone_ms"]["p50"] > 0, figures


def test_every_experiment_runs_against_its_own_server(evener, data):
    small = {"prefix": ("--sessions", "2", "--turns", "3"), "spec": (), "quality": ("--no-code", "--answer-tokens", "32"),
             "soak": ("--time", "3", "--users", "2"), "coldstart": ()}
    with Results() as results:
        for name, words in small.items():
            appendix, _, _ = results.run(evener, name, *words, "--rounds", "1", "--output-tokens", "16")
            assert keys(appendix) and all(key.startswith(name + "/") for key in keys(appendix)), keys(appendix)


def test_reports_are_written_where_they_are_asked_for(evener, data):
    with Results() as results:
        page, text = (os.path.join(results.folder.name, name) for name in ("run.html", "run.md"))
        results.run(evener, "sweep", "--lengths", "128", "--rounds", "1", "--output-tokens", "16", "--html", page, "--markdown", text,
                    "--lang", "zh")
        with open(page, encoding="utf-8") as file:
            contains(file.read(), "<!doctype html>")
        assert os.path.getsize(text) > 500
        status, out, err = run(evener, *results.words("sweep", "--html", "/nonexistent/run.html"))
        equal((status, out, err), (1, "", "evener: cannot write the report: /nonexistent/run.html: its folder is not there\n"
                                          "  name another file\n"))


def start(evener, *words):
    return subprocess.Popen([evener, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_line(process, pattern):
    for line in process.stderr:
        if re.search(pattern, line):
            return
    raise AssertionError(f"it ended without a line of {pattern}")


def test_an_interrupt_keeps_what_was_measured(evener, data):
    mark = f"interrupt-of-{os.getpid()}"
    with Results() as results:
        words = results.words("sweep", "--lengths", "128", "--rounds", "1000", "--output-tokens", "64", "--server-args", f"--alias {mark}")
        process = start(evener, *words)
        wait_for_line(process, "round 3 of 1000")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE_S)
        equal(process.returncode, 1)
        with open(results.json, encoding="utf-8") as file:
            appendix = json.load(file)
        equal(appendix["run"]["state"], "interrupted")
        assert len(appendix["cells"]) >= 2, keys(appendix)
        assert any(finding["fault"] == "interrupted" for finding in appendix["findings"]), appendix["findings"]
        contains(out, appendix["run"]["id"])
        contains(run(evener, "bench", "list", "--store", results.store)[1], "interrupted")
    equal(servers(mark), [])


def test_its_server_dies_with_it(evener, data):
    mark = f"killed-of-{os.getpid()}"
    with Results() as results:
        process = start(evener, *results.words("sweep", "--lengths", "128", "--rounds", "1000", "--server-args", f"--alias {mark}"))
        wait_for_line(process, "round 2 of 1000")
        assert servers(mark), "no server was started"
        process.kill()
        process.communicate(timeout=DEADLINE_S)
        wait_until(lambda: not servers(mark), "the server to end")
        # What was committed is there, and says that it has no end.
        contains(run(evener, "bench", "list", "--store", results.store)[1], "unfinished")


def test_the_end_of_its_server_is_told_with_its_cause(evener, data):
    mark = f"ended-of-{os.getpid()}"
    with Results() as results:
        process = start(evener, *results.words("sweep", "--lengths", "128", "--rounds", "1000", "--server-args", f"--alias {mark}"))
        wait_for_line(process, "round 3 of 1000")
        for pid in servers(mark):
            os.kill(pid, signal.SIGKILL)
        out, err = process.communicate(timeout=DEADLINE_S)
        equal(process.returncode, 1)
        contains(err, "evener: cannot go on measuring: evener serve: it was ended by signal 9 (Killed)")
        contains(out, "is kept in")
        contains(run(evener, "bench", "list", "--store", results.store)[1], "failed")


def test_what_cannot_be_started_is_told_in_its_own_words(evener, data):
    with Results() as results:
        status, out, err = run(evener, *results.words("sweep", "--serve-model", "/nonexistent.gguf"))
        equal((status, out), (1, ""))
        contains(err, "evener: cannot start a server to measure: evener serve: it ended with status 1; it said:\n"
                      "  | evener: cannot load model: /nonexistent.gguf: No such file or directory\n")
        status, _, err = run(evener, *results.words("sweep", "--server-args", "--port 80"))
        equal(status, 2)
        contains(err, "--port is for the run to choose\n  start the server yourself and name it with --url\n")
        status, _, err = run(evener, *results.words("sweep", "--server-args", "--api-key K"))
        equal(status, 2)
        contains(err, "give the key to bench with --api-key: it hands it on\n")


def test_nothing_is_measured_that_cannot_be(evener, data):
    with Results() as results:
        status, _, err = run(evener, *results.words("sweep", "--url", "http://127.0.0.1:1"))
        equal(status, 1)
        contains(err, "nothing listens at 127.0.0.1:1")
        status, _, err = run(evener, *results.words("sweep", "--url", "ftp://somewhere"))
        equal(status, 2)
        status, _, err = run(evener, *results.words("sweep", "--lengths", "99999"))
        equal(status, 2)
        contains(err, "evener: cannot measure sweep: a prompt of 99999 tokens: the server takes 1 to ")
        with open(results.store + ".txt", "w", encoding="utf-8") as file:
            file.write("no store of results " * 500)
        status, _, err = run(evener, "bench", "sweep", "--lengths", "128", "--store", results.store + ".txt")
        equal(status, 1)
        contains(err, results.store + ".txt")


if __name__ == "__main__":
    run_tests(globals(), *sys.argv[1:])
