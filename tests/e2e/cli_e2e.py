"""The commands as a person meets them: what they print and how they end, good words and bad."""

import json
import math
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from harness import Server, contains, equal, request, run, run_tests, wait_until


def test_help_and_version_end_well(evener, data):
    status, out, err = run(evener, "--help")
    equal((status, err), (0, ""))
    for command in ("serve", "chat", "run", "inspect", "logits", "convert", "quantize", "perplexity", "compare",
                    "devices", "doctor", "snapshot", "simulate", "tune", "bench"):
        contains(out, command)
    status, out, _ = run(evener, "--version")
    equal((status, out.split()[0]), (0, "evener"))


def test_an_unknown_command_is_a_usage_error(evener, data):
    status, _, err = run(evener, "frobnicate")
    equal((status, err), (2, "evener: cannot run: 'frobnicate': there is no such command\n"
                             "  commands are serve, chat, run, inspect, logits, convert, quantize, perplexity, compare, devices, "
                             "doctor, snapshot, simulate, tune, bench\n"))


def test_run_prints_the_answer_and_nothing_else(evener, data):
    status, out, err = run(evener, "run", "--temp", "0", "-n", "12", "Tell me a story about a dog.")
    equal(status, 0)
    equal(out.count("\n"), 1 + out.rstrip("\n").count("\n"))
    assert len(out.split()) > 3, out
    assert "evener:" not in err, err


def test_the_same_seed_gives_the_same_answer(evener, data):
    ask = lambda seed: run(evener, "run", "--seed", seed, "-n", "24", "Tell me a story about a cat.")[1]
    equal(ask("7"), ask("7"))
    assert ask("7") != ask("8")


def test_chat_answers_each_line_and_knows_its_commands(evener, data):
    lines = "Tell me a story about a dog.\n/set temperature 0\n/set temperature hot\n/nonsense\n/set\n/new\nHello!\n/exit\n"
    status, out, err = run(evener, "chat", "--temp", "0", "-n", "8", stdin=lines)
    equal((status, err), (0, ""))
    contains(out, "temperature = 0\n")
    contains(out, "temperature takes a number from 0 to 10\n")
    contains(out, "there is no command /nonsense; /help lists them\n")
    contains(out, "max_tokens = 8\n")


def test_chat_goes_on_after_a_message_that_does_not_fit(evener, data):
    long = "word " * 5000
    status, out, _ = run(evener, "chat", "-n", "4", "--temp", "0", stdin=f"{long}\nHello!\n")
    equal(status, 0)
    contains(out, "maximum context length")
    contains(out, "/new begins a fresh conversation")


def test_logits_writes_what_it_says(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "l.npy")
        model = os.path.join(data, "models", "qwen3.gguf")
        status, out, _ = run(evener, "logits", model, "--tokens", "1,2,3", "--out", path, "--kv", "f32")
        equal((status, out), (0, f"{path}: 3 tokens, 320 logits each\n"))
        one_by_one = os.path.join(folder, "m.npy")
        equal(run(evener, "logits", model, "--tokens", "1 2\n3", "--out", one_by_one, "--kv", "f32", "--chunk", "1")[0], 0)
        with open(path, "rb") as a, open(one_by_one, "rb") as b:
            equal(a.read(), b.read())


def test_quantize_writes_a_model_that_runs(evener, data):
    model = os.path.join(data, "models", "qwen35moe.gguf")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.gguf")
        status, out, _ = run(evener, "quantize", model, path, "q8_0")
        equal(status, 0)
        contains(out, "to Q8_0: ")
        contains(out, f"{path} written in ")
        contains(run(evener, "inspect", path)[1], "quantisation       Q8_0")
        logits = os.path.join(folder, "l.npy")
        equal(run(evener, "logits", path, "--tokens", "1,2,3", "--out", logits)[0], 0)
        equal(sorted(os.listdir(folder)), ["l.npy", "small.gguf"])


def test_quantize_replaces_nothing_unasked(evener, data):
    model = os.path.join(data, "models", "qwen3.gguf")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.gguf")
        with open(path, "w", encoding="utf-8") as older:
            older.write("older")
        status, _, err = run(evener, "quantize", model, path, "Q4_0")
        equal((status, err), (2, f"evener: cannot quantize: {path}: is there already\n  name another file, or say --force\n"))
        equal(run(evener, "quantize", model, path, "Q4_0", "--dry-run")[0], 0)
        equal(os.path.getsize(path), 5)
        equal(run(evener, "quantize", model, path, "Q4_0", "--force")[0], 0)
        assert os.path.getsize(path) > 5
        status, _, err = run(evener, "quantize", path, path, "Q4_0", "--force")
        equal(status, 2)
        contains(err, "is the input itself")
        status, out, _ = run(evener, "quantize", path, path + "2", "Q8_0", "--dry-run")
        contains(out, "are quantised already")


def test_quantize_says_what_is_wrong(evener, data):
    model = os.path.join(data, "models", "qwen3.gguf")
    status, _, err = run(evener, "quantize", model, "/dev/null/x", "Q4_7")
    equal(status, 2)
    contains(err, "'Q4_7' is none that Evener writes\n  one of F16, BF16, Q8_0,")
    status, _, err = run(evener, "quantize", model, "/nowhere/at/all.gguf", "Q4_0")
    equal(status, 1)
    contains(err, "/nowhere/at/all.gguf")
    status, _, err = run(evener, "quantize", model, "/nowhere/x", "Q4_0", "--imatrix", model)
    equal(status, 1)
    contains(err, "general.type")


def test_keys_and_values_are_kept_as_asked(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        written = {}
        for kind in ("f32", "f16", "q8_0", "fp8"):
            files = [os.path.join(folder, f"{kind}-{chunk}.npy") for chunk in ("512", "2")]
            for path, chunk in zip(files, ("512", "2")):
                equal(run(evener, "logits", BUNDLED, "--tokens", "5,6,7,8,9", "--out", path, "--kv", kind, "--chunk", chunk)[0], 0)
            contents = [open(path, "rb").read() for path in files]
            equal(contents[0], contents[1])
            written[kind] = contents[0]
        equal(len(set(written.values())), 4)
    status, _, err = run(evener, "logits", BUNDLED, "--tokens", "1", "--out", "/dev/null", "--kv", "q3")
    equal(status, 2)
    contains(err, "--kv")
    narrow = os.path.join(data, "models", "llama.gguf")
    status, _, err = run(evener, "logits", narrow, "--tokens", "1", "--out", "/dev/null", "--kv", "q8_0")
    equal((status, err), (1, "evener: cannot keep keys and values: as q8_0: its blocks are 32 channels wide, the model's heads have 16\n"
                             "  choose --kv f16 or --kv fp8\n"))


def test_timing_says_where_the_time_went(evener, data):
    mixture = os.path.join(data, "models", "qwen35moe.gguf")
    words = ("logits", mixture, "--tokens", "1,2,3", "--out", "/dev/null")
    equal(run(evener, *words)[2], "")
    status, out, err = run(evener, *words, "--timing")
    equal((status, out), (0, "/dev/null: 3 tokens, 320 logits each\n"))
    lines = {line.split()[0]: line.split() for line in err.splitlines() if line}
    for kind in ("dense", "experts", "attention", "recurrent", "embedding", "elementwise", "copies", "all", "together"):
        assert kind in lines, err
    equal(lines["embedding"][-1], "1")
    equal(lines["together"][3:5], ["100.0", "%"])
    equal(lines["0"][1], "9")  # three rows, three experts each

    status, out, err = run(evener, "run", "--temp", "0", "-n", "5", "--timing", "Tell me a story about a dog.")
    equal(status, 0)
    assert "sampling" not in out, out
    contains(err, "sampling")
    contains(err, "together")


def test_logits_refuses_what_is_no_token(evener, data):
    model = os.path.join(data, "models", "qwen3.gguf")
    status, _, err = run(evener, "logits", model, "--tokens", "1,x", "--out", "/dev/null")
    equal((status, err), (2, "evener: cannot read token ids: --tokens: 'x' is not a token id\n"))
    status, _, err = run(evener, "logits", model, "--tokens", "320", "--out", "/dev/null")
    equal((status, err), (2, "evener: cannot compute logits: token 320 is not in the vocabulary of 320\n"))


BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "evener-tiny35-q8_0.gguf")
STORY = "Once upon a time there was a little dog named Max. Max loved to run in the park with his ball. " * 12


def with_text(text, check):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        check(file.name)


def test_perplexity_tells_stories_from_noise(evener, data):
    noise = "".join(chr(33 + i * i * 7 % 90) for i in range(1200))
    measured = []
    for text in (STORY, noise):
        def check(path):
            status, out, _ = run(evener, "perplexity", BUNDLED, path, "--window", "128", "--json")
            equal(status, 0)
            measured.append(json.loads(out))
        with_text(text, check)
    story, chaos = measured
    assert 1 < story["perplexity"] < 20 < 200 < chaos["perplexity"], measured
    assert abs(math.log(story["perplexity"]) - story["nll"]) < 1e-9, story
    assert story["windows"] == math.ceil((story["tokens"] - 64) / 128), story


def test_perplexity_scores_each_token_once_whatever_the_chunk(evener, data):
    def check(path):
        words = ("perplexity", BUNDLED, path, "--window", "64", "--stride", "16", "--json")
        results = [json.loads(run(evener, *words, *more)[1]) for more in ((), ("--chunk", "5"))]
        equal(results[0]["scored_tokens"], results[0]["tokens"] - 48)
        equal(results[0]["nll"], results[1]["nll"])
        status, out, _ = run(evener, *words[:-1])
        equal(status, 0)
        contains(out, f"perplexity        {results[0]['perplexity']:.4f} +- ")
    with_text(STORY, check)


def test_compare_finds_a_model_equal_to_itself(evener, data):
    def check(path):
        words = ("compare", BUNDLED, BUNDLED, path, "--window", "64")
        status, out, _ = run(evener, *words)
        equal(status, 0)
        contains(out, "same likeliest token             100.000 %\n")
        result = json.loads(run(evener, *words, "--json")[1])
        equal(result["same_top"], 1.0)
        assert result["kl"]["quantiles"]["largest"] < 1e-12, result
        equal(result["a"], result["b"])
    with_text(STORY, check)


def test_compare_measures_what_a_cache_costs(evener, data):
    def check(path):
        words = ("compare", BUNDLED, BUNDLED, path, "--window", "64", "--json")
        means = [json.loads(run(evener, *words, *more)[1])["kl"]["mean"] for more in (("--kv-b", "q8_0"), ("--kv-b", "fp8"))]
        assert 1e-9 < means[0] < means[1] < 0.1, means
        alike = json.loads(run(evener, *words, "--kv", "fp8", "--kv-b", "fp8")[1])
        assert alike["kl"]["quantiles"]["largest"] < 1e-12, alike
    with_text(STORY, check)


def test_measures_refuse_what_they_cannot_measure(evener, data):
    def check(path):
        equal(run(evener, "perplexity", BUNDLED, path)[::2], (2, "evener: cannot cut the text into windows: a window of 1 tokens has none with another before it\n"))
        status, _, err = run(evener, "perplexity", BUNDLED, path, "--stride", "600")
        equal(status, 2)
    with_text("a", check)
    status, _, err = run(evener, "compare", BUNDLED, os.path.join(data, "models", "qwen3.gguf"), "/nonexistent.txt")
    equal(status, 1)
    contains(err, "/nonexistent.txt: No such file or directory")


def test_simulate_runs_what_it_is_asked_and_sums_it_up(evener, data):
    status, out, _ = run(evener, "simulate", "--runs", "20", "--seed", "7")
    equal(status, 0)
    summary = out.splitlines()[-1]
    contains(summary, "20 runs in ")
    contains(summary, ": every invariant held")
    contains(out, "--max-prefill-steps 0       1 gaps over 1 s")
    contains(out, "--max-prefill-steps 1      12 gaps over 1 s")


def doctor_file(data, name):
    return os.path.join(data, "doctor", name)


def test_doctor_says_whether_the_cards_can_work_together(evener, data):
    status, out, err = run(evener, "doctor", "--facts", doctor_file(data, "two_sockets.json"), environment={"LC_ALL": "C.UTF-8"})
    equal((status, err), (1, ""))
    first, second = out.split("\n", 2)[:2]
    assert "blocked" in first and second == "", out
    for title in ("Machine", "Where the cards are", "Peer-to-peer, pair by pair", "Findings", "What to change, in the order to try"):
        contains(out, f"\n{title}\n")
    contains(out, "\n  0000:80 root bus, node 1, first device 8086:6f02, window above 4 GiB 256 GiB at 0x30000000000\n")
    contains(out, "\u2514\u2500 C AMD Radeon RX 7900 XTX, 0000:85:00.0, gfx1100, VRAM 24560 MiB, BAR 0: 256 MiB at 0x30000000000")
    contains(out, "R34")
    contains(out, "F19")
    assert "\x1b" not in out and "hardware limit" not in out, out
    status, plain, _ = run(evener, "doctor", doctor_file(data, "two_sockets.json"), environment={"LC_ALL": "C"})
    equal(status, 1)
    contains(plain, "`- C AMD Radeon RX 7900 XTX")


def test_doctor_speaks_json(evener, data):
    status, out, _ = run(evener, "doctor", "--json", "--facts", doctor_file(data, "two_sockets.json"))
    equal(status, 1)
    report = json.loads(out)
    pairs = {(pair["a"], pair["b"]): pair for pair in report["pairs"]}
    equal(len(pairs), 6)
    equal((pairs["A", "B"]["verdict"], pairs["A", "B"]["verified"], pairs["A", "B"]["route"]), ("works", False, "root"))
    equal((pairs["C", "D"]["verdict"], pairs["C", "D"]["route"]), ("blocked", "root"))  # their switch redirects
    equal((pairs["A", "C"]["verdict"], pairs["A", "C"]["route"]), ("blocked", "cross-host"))
    bars = {bar["gpu"]: bar for bar in report["bars"]}
    equal((bars["C"]["now"], bars["C"]["need"], bars["C"]["max"]), (256 << 20, 24560 << 20, 32 << 30))
    assert "F19" in report["fixes"], report["fixes"]
    equal([row["name"] for row in report["tree"] if row["kind"] == "gpu"], ["A", "B", "C", "D"])


def test_doctor_reads_what_people_paste(evener, data):
    with open(doctor_file(data, "lspci_tree.txt"), encoding="utf-8") as file:
        text = file.read()
    for pasted in (text, text.replace("\n", "\r\n")):
        status, out, err = run(evener, "doctor", "-", stdin=pasted)
        equal((status, err), (1, ""))
        contains(out, "0000:07:00.0")
        contains(out, "unknown")
        contains(out, "What could not be read")
    equal(run(evener, "doctor", doctor_file(data, "lspci_tree.txt"))[0], 1)


def test_doctor_says_what_a_change_would_do(evener, data):
    words = ("doctor", "--facts", doctor_file(data, "two_sockets.json"))
    status, out, _ = run(evener, *words, "--what-if", "kernel=6.12")
    equal(status, 1)
    contains(out, "As it would be with kernel=6.12, by the rules; nothing was changed:\n")
    contains(out, "\nWhat that changes\n")
    contains(out, "R56")
    status, out, err = run(evener, *words, "--what-if", "kernel=6.12,nonsense=1")
    equal((status, out), (2, ""))
    contains(err, "nonsense")


def test_doctor_says_what_has_changed(evener, data):
    now, before = doctor_file(data, "two_sockets_later.json"), doctor_file(data, "two_sockets.json")
    status, out, err = run(evener, "doctor", "--verify", before, "--facts", now)
    equal((status, err), (1, ""))
    contains(out, f"Compared with {before}:\n")
    contains(out, "\nWhat is different on the machine\n")
    contains(out, "7.4.9")
    contains(out, "C-D")
    report = json.loads(run(evener, "doctor", "--json", "--verify", before, "--facts", now)[1])
    assert report["changes"]["facts"] and report["changes"]["verdicts"], report["changes"]
    status, out, _ = run(evener, "doctor", "--verify", now, "--facts", now)
    contains(out, "Nothing that matters here has changed.\n")


def test_doctor_keeps_what_it_saw_for_the_next_start(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        environment = {"XDG_STATE_HOME": folder}
        status, out, err = run(evener, "doctor", "--verify", environment=environment)
        if "cannot" in err and "nothing has been saved" not in err:
            return  # no PCI devices to be seen in this container
        equal((status, out), (2, ""))
        contains(err, "nothing has been saved there\n  run evener doctor before the change")
        status, out, err = run(evener, "doctor", environment=environment)
        assert status in (0, 1) and err == "", err
        contains(out, "Saved for evener doctor --verify after a change: " + folder)
        status, out, _ = run(evener, "doctor", "--verify", environment=environment)
        contains(out, f"Compared with {folder}/evener/doctor/")


def test_doctor_explains_its_rules(evener, data):
    status, out, err = run(evener, "doctor", "--explain", "r40")
    equal((status, err), (0, ""))
    contains(out, "R40: one card's BAR lies above the addresses that the other can form\n")
    status, _, err = run(evener, "doctor", "--explain", "R99")
    equal(status, 2)
    contains(err, "evener: cannot explain: 'R99': there is no such rule or fix\n  there are R01 R02 ")


def test_doctor_has_its_own_status_for_what_it_cannot_read(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        junk = os.path.join(folder, "junk")
        with open(junk, "wb") as file:
            file.write(os.urandom(5000))
        for words in (["/nonexistent"], [junk], ["--facts", junk], ["--facts", doctor_file(data, "lspci_tree.txt")], ["--snapshot", junk],
                      [junk, "--facts", doctor_file(data, "two_sockets.json")], ["--nonsense"], ["--verify", junk, "--facts", junk]):
            status, out, err = run(evener, "doctor", *words)
            equal((words, status, out), (words, 2, ""))
            assert err, words
        status, out, err = run(evener, "doctor", "-", stdin="")
        equal((status, out), (2, ""))
        contains(err, "standard input")


def test_serve_tells_about_a_machine_only_if_told_to(evener, data):
    with Server(evener) as server:
        status, _, text = request(server.url + "/v1/host")
        equal(status, 404)
        contains(text, "started with --expose-host")
    with Server(evener, "--expose-host", "--host-facts", doctor_file(data, "two_sockets.json")) as server:
        status, headers, text = request(server.url + "/v1/host")
        equal((status, headers["Content-Type"]), (200, "application/json"))
        equal(text, run(evener, "doctor", "--json", "--facts", doctor_file(data, "two_sockets.json"))[1])
    status, _, err = run(evener, "serve", "--port", "0", "--expose-host", "--host-facts", "/nonexistent")
    equal(status, 1)
    contains(err, "/nonexistent")


def test_a_model_that_is_not_there_is_named(evener, data):
    for command in (["serve", "--port", "0", "/nonexistent.gguf"], ["run", "-m", "/nonexistent.gguf", "hi"], ["inspect", "/nonexistent.gguf"]):
        status, _, err = run(evener, *command)
        equal(status, 1)
        contains(err, "/nonexistent.gguf: No such file or directory")


def test_files_that_are_no_models_are_refused(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.gguf")
        for content in (b"", b"GGUF", b"<!doctype html><html>", b"PK\x03\x04" + bytes(100), b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60), os.urandom(4096)):
            with open(path, "wb") as file:
                file.write(content)
            for command in (["inspect", path], ["run", "-m", path, "hi"]):
                status, out, err = run(evener, *command)
                equal((status, out), (1, ""))
                contains(err, f"evener: cannot ")
                contains(err, path)


def test_convert_writes_nothing_where_it_cannot_read(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.gguf")
        status, _, err = run(evener, "convert", folder, out)
        equal((status, err), (1, f"evener: cannot load model: {folder}: has no config.json\n"
                                 "  name a GGUF file or the folder of a Hugging Face model\n"))
        equal(os.listdir(folder), [])
        with open(out, "w", encoding="utf-8") as file:
            file.write("mine")
        status, _, err = run(evener, "convert", folder, out)
        equal(status, 2)
        contains(err, f"{out}: is there already")
        status, _, _ = run(evener, "convert", "--force", folder, out)
        equal((status, open(out, encoding="utf-8").read()), (1, "mine"))
        status, _, err = run(evener, "convert", out, out)
        equal(status, 2)
        contains(err, f"{out}: is a file\n  name the folder that config.json lies in")


def test_a_truncated_model_is_refused(evener, data):
    with open(os.path.join(data, "models", "qwen3.gguf"), "rb") as file:
        whole = file.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cut.gguf")
        with open(path, "wb") as file:
            file.write(whole[: len(whole) // 2])
        status, _, err = run(evener, "run", "-m", path, "hi")
        equal(status, 1)
        contains(err, path)


def test_too_little_memory_is_said_before_loading(evener, data):
    status, _, err = run(evener, "run", "--memory", "2M", "hi")
    equal(status, 1)
    contains(err, "memory")


def test_what_was_tuned_is_used_where_nothing_is_named(evener, data):
    short = ("--rounds", "1", "--measure-prompt", "64", "--measure-answer", "4", "--ctx", "512")
    with tempfile.TemporaryDirectory() as home:
        there = {"XDG_STATE_HOME": home}
        status, out, err = run(evener, "tune", *short, "--devices", "cpu:0[0]", "--json", environment=there)
        equal(status, 0)
        layouts = json.loads(out)["layouts"]
        equal([layout["devices"] for layout in layouts], [["cpu:0[0]"]])
        if not layouts[0]["prefill_tokens_per_s"] > 0:
            raise AssertionError(out)
        contains(err, "Kept in " + home)
        contains(run(evener, "run", "-n", "1", "hi", environment=there)[2], "evener tune found")
        if "evener tune found" in run(evener, "run", "--device", "cpu:0", "-n", "1", "hi", environment=there)[2]:
            raise AssertionError("a device was named")

        folder = os.path.join(home, "evener", "tune")
        with open(os.path.join(folder, os.listdir(folder)[0]), "w", encoding="utf-8") as file:
            file.write("[]")
        status, _, err = run(evener, "run", "-n", "1", "hi", environment=there)
        equal(status, 0)
        contains(err, "cannot read the tuned layout")


def test_tuning_refuses_what_is_not_there(evener, data):
    equal(run(evener, "tune", "--devices", "cpu:99")[0], 2)
    equal(run(evener, "tune", "none.gguf", "--no-save")[0], 1)


def test_a_device_that_does_not_exist_is_refused(evener, data):
    status, _, err = run(evener, "run", "--device", "gpu:0", "hi")
    equal(status, 2)
    contains(err, "'gpu:0': there is no such kind of device")
    equal(run(evener, "run", "--devices", "cpu:99", "hi")[0], 2)
    status, _, err = run(evener, "run", "--devices", "cpu:0[4000]", "hi")
    equal(status, 2)
    contains(err, "'cpu:0[4000]': there is no core 4000: this process may use ")
    contains(err, "cores are counted from 0")


def test_devices_that_cannot_work_together_are_refused(evener, data):
    one = ("run", "--devices", "cpu:0[0]")
    for words, message in (
            (("run", "--devices", "cpu:0,cpu:0"), "'cpu:0': it is named twice"),
            (("run", "--devices", "cpu:0,cpu:0[0]"), "'cpu:0[0]': it shares core 0 of node 0 with 'cpu:0'"),
            (("run", "--devices", "cpu:0,"), "'': a name is empty"),
            (("run", "--devices", "cpu:0[0"), "'cpu:0[0': its brackets do not end"),
            ((*one, "--threads", "2"), "2 threads are asked for, it has 1 core"),
            ((*one, "--tp", "2"), "1 stage with 2 shards each take 2 devices, and one is named"),
            ((*one, "--stages", "2", "--tp", "3"), "2 stages with 3 shards each take 6 devices, and one is named"),
            ((*one, "--split", "5,x"), "cannot read --split: '5,x': 'x' is not a number"),
            ((*one, "--split", "5,,7"), "a number is missing"),
            ((*one, "--split", "7,5"), "--split: layer 5 does not lie behind layer 7"),
            ((*one, "--split", "99999999999999999999"), "'99999999999999999999' is not a number that it takes"),
            ((*one, "--ratio", "5:0"), "--ratio: the share 0 is not above 0"),
            ((*one, "--ratio", "-1"), "--ratio: the share -1 is not above 0"),
            ((*one, "--ratio", "nan"), "--ratio: the share nan is not above 0"),
            ((*one, "--ratio", "five:four"), "cannot read --ratio: 'five:four': 'five' is not a number"),
            ((*one, "--tp", "1", "--ratio", "5:4"), "--tp says 1 shard, --ratio is for 2"),
            ((*one, "--stages", "3", "--split", "4"), "--stages says 3 stages, --split is for 2"),
            ((*one, "--experts", "none"), "--experts"),
            (("logits", os.path.join(data, "models", "llama.gguf"), "--tokens", "1", "--out", "x.npy", "--ratio", "0"),
             "the share 0 is not above 0")):
        status, out, err = run(evener, *words, *(("hi",) if words[0] == "run" else ()))
        equal((words, status, out), (words, 2, ""))
        contains(err, message)


def test_devices_are_listed_with_what_they_have(evener, data):
    status, out, err = run(evener, "devices")
    equal(status, 0)
    for word in ("cpu:0", "cores", "hardware thread", "memory", " free", "bandwidth", " GB/s", "For --devices:"):
        contains(out, word)
    status, out, _ = run(evener, "devices", "--no-measure", "--json")
    equal(status, 0)
    first = json.loads(out)["devices"][0]
    equal((first["name"], first["kind"], first["numa_node"]), ("cpu:0", "cpu", 0))
    equal(first["cores"] >= 1 and first["memory_bytes"] > 0 and "read_bytes_per_s" not in first, True)
    # A machine with two sockets, made up: names, and cores that cannot be measured.
    two_sockets = {"HWLOC_SYNTHETIC": "pack:2 numa:1 core:4 pu:2"}
    status, out, _ = run(evener, "devices", "--no-measure", environment=two_sockets)
    equal(status, 0)
    for word in ("cpu:1", "cpu:1[0-3]", "8 hardware threads", "cpu:0,cpu:1  "):
        contains(out, word)
    for name in json.loads(run(evener, "devices", "--no-measure", "--json")[1])["devices"]:
        if name["kind"] == "cpu":
            equal(run(evener, "run", "--devices", name["name"], "-n", "1", "hi")[0], 0)


def test_a_forced_isa_is_used_or_refused(evener, data):
    equal(run(evener, "run", "-n", "2", "hi", environment={"EVENER_ISA": "avx2"})[0], 0)
    status, _, err = run(evener, "run", "-n", "2", "hi", environment={"EVENER_ISA": "nonsense"})
    equal(status, 2)
    contains(err, "nonsense")


def test_a_taken_port_is_named(evener, data):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, _, err = run(evener, "serve", "--port", str(port))
        equal(status, 1)
        contains(err, str(port))
        contains(err, "--port")


def test_serve_says_what_it_serves_and_stops_cleanly(evener, data):
    with Server(evener) as server:
        contains(server.log(), "bundled")
        for phase in ("map", "pack", "warm", "listen"):
            contains(server.log(), phase)
        equal(request(server.url + "/health")[0], 200)
        equal(server.stop(), 0)


def test_a_running_answer_is_finished_when_the_server_is_told_to_stop(evener, data):
    # Long enough to be seen running on a fast machine.
    body = {"messages": [{"role": "user", "content": "Tell me a story about a dog."}], "n": 8, "max_tokens": 1900,
            "ignore_eos": True}
    with Server(evener) as server:
        import threading
        answers = []
        asker = threading.Thread(target=lambda: answers.append(request(server.url + "/v1/chat/completions", body)))
        asker.start()
        wait_until(lambda: metric(server, "evener_requests_running") not in (None, "0"), "the answers to run")
        equal(server.stop(), 0)
        asker.join()
        equal(answers[0][0], 200)
        contains(answers[0][2], '"finish_reason":"length"')


def metric(server, name):
    text = request(server.url + "/metrics")[2]
    return next((line.split()[-1] for line in text.splitlines() if line.startswith(name + " ")), None)


def test_an_interrupt_ends_run(evener, data):
    process = subprocess.Popen([evener, "run", "--temp", "1", "Tell me a story about a dog."], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    # 0 if the story was over before the signal came
    assert process.wait() in (0, 130), process.returncode


if __name__ == "__main__":
    run_tests(globals(), *sys.argv[1:])
