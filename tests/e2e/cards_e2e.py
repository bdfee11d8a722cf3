"""Graphics cards as a person meets them: what lists them, what they are called, and what is said where there are none.

Runs with whatever adapter there is; most machines that build have a software one. Skipped without any. How right the
numbers are, the tests of the device say; here they only have to be those that a processor comes to, nearly.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from harness import SKIPPED, Server, contains, equal, request, run, run_tests

NO_DRIVER = {"VK_ICD_FILENAMES": "/nonexistent.json", "VK_DRIVER_FILES": "/nonexistent.json"}


def cards_of(evener, **options):
    status, out, _ = run(evener, "devices", "--no-measure", "--json", **options)
    equal(status, 0)
    listed = json.loads(out)
    return [each for each in listed["devices"] if each["kind"] == "vulkan"], listed.get("no_cards")


def test_cards_are_listed_with_what_they_have(evener, data):
    cards, why_none = cards_of(evener)
    equal(why_none, None)
    status, out, _ = run(evener, "devices", "--no-measure")
    equal(status, 0)
    for index, card in enumerate(cards):
        equal(card["name"], f"vulkan:{index}")
        contains(out, f"vulkan:{index} {card['model']}\n")
        contains(out, card["driver"])
        equal(card["memory_bytes"] > 0 and card["memory_usable_bytes"] <= card["memory_bytes"], True)
        if card["adapter_kind"] == "software":
            contains(out, "software: it computes on the CPU, slower than cpu:0, and only when it is named")
            equal("pci_address" in card, False)
    for word in ("kind", "Vulkan 1.", "computes", "subgroups", "shares"):
        contains(out, word)
    # Software is never proposed.
    real = [card["name"] for card in cards if card["adapter_kind"] != "software" and not card["missing"]]
    equal("  vulkan:" in out.split("For --devices:")[1], bool(real))


def test_bad_words_for_a_card_are_refused(evener, data):
    cards, _ = cards_of(evener)
    first = f"0 is {cards[0]['model']}"
    for words, message in (
            ("vulkan:99", "'vulkan:99': there "),
            ("vulkan:99", first),
            ("vulkan:nosuchcard", "'vulkan:nosuchcard': no adapter has this number, PCI address or name"),
            ("vulkan:nosuchcard", first),
            ("vulkan:18446744073709551616", "'vulkan:18446744073709551616': "),
            ("vulkan:-1", "'vulkan:-1': "),
            ("vulkan:", "'vulkan:': it does not say which card"),
            ("vulkan:0#x", "'vulkan:0#x': 'x' behind the # is no number"),
            ("vulkan:0,vulkan:0", "'vulkan:0': it is named twice"),
            ("vulkan:0,vulkan:00", "'vulkan:00': it is the same device as 'vulkan:0'"),
            ("vulkan:0#1,vulkan:0,cpu:0,vulkan:0#1", "'vulkan:0#1': it is named twice"),
            ("vulkan:0\n", "'vulkan:0\\n': there are characters in it that no card's name has"),
            ("vulkan:" + 300 * "x", "a card's name has at most 256 bytes")):
        for command in (("run", "--devices", words, "hi"), ("serve", "--port", "0", "--device", words),
                        ("tune", "--no-save", "--devices", words),
                        ("logits", os.path.join(data, "models", "llama.gguf"), "--tokens", "1", "--out", "/dev/null",
                         "--devices", words)):
            status, out, err = run(evener, *command)
            equal((status, out), (2, ""))
            contains(err, message)


def logits(evener, model, folder, *words):
    path = os.path.join(folder, "l.npy")
    status, _, err = run(evener, "logits", model, "--tokens", "1,2,3,4,5", "--out", path, *words)
    if status != 0:
        raise AssertionError(err)
    with open(path, "rb") as file:
        content = file.read()
    header = struct.unpack("<H", content[8:10])[0]
    return struct.unpack(f"<{(len(content) - 10 - header) // 4}f", content[10 + header:])


def test_a_card_computes_what_a_processor_computes(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        for family in ("llama", "qwen35", "qwen3moe"):
            model = os.path.join(data, "models", family + ".gguf")
            here = logits(evener, model, folder, "--devices", "cpu:0")
            there = logits(evener, model, folder, "--devices", "vulkan:0")
            equal(len(there), len(here))
            largest = max(abs(value) for value in here)
            apart = max(abs(a - b) for a, b in zip(here, there))
            if not 0 < largest < 100 or not apart < 0.01 * largest:
                raise AssertionError(f"{family}: {apart} apart, of {largest}")
            stages = logits(evener, model, folder, "--devices", "vulkan:0,vulkan:0#1", "--stages", "2", "--split", "1",
                            "--peer", "always")
            equal(stages == there, True)


def test_cards_and_processors_share_a_model(evener, data):
    model = os.path.join(data, "models", "llama.gguf")
    for words in (("--devices", "vulkan:0,cpu:0", "--stages", "2", "--split", "1"), ("--devices", "cpu:0,vulkan:0", "--tp", "2")):
        with tempfile.TemporaryDirectory() as folder:
            here = logits(evener, model, folder, "--devices", "cpu:0")
            shared = logits(evener, model, folder, *words)
            equal(max(abs(a - b) for a, b in zip(here, shared)) < 0.01 * max(abs(value) for value in here), True)


def test_a_card_serves(evener, data):
    with Server(evener, "--device", "vulkan:0", "--ctx", "512") as server:
        body = {"messages": [{"role": "user", "content": "Tell me a story about a cat."}], "max_tokens": 4, "temperature": 0}
        status, _, text = request(server.url + "/v1/chat/completions", body)
        equal(status, 200)
        contains(text, '"finish_reason":"length"')
        equal(request(server.url + "/health")[0], 200)
        contains(server.log(), "vulkan:0 (")


def test_the_times_of_a_card_are_told(evener, data):
    status, _, err = run(evener, "run", "--device", "vulkan:0", "-n", "2", "--timing", "hi")
    equal(status, 0)
    for word in ("dense", "elementwise", "copies", "together"):
        contains(err, word)


def test_without_a_driver_there_is_a_remedy(evener, data):
    cards, why_none = cards_of(evener, environment=NO_DRIVER)
    equal(cards, [])
    contains(why_none, "driver")
    contains(why_none, "apt install mesa-vulkan-drivers")
    status, out, _ = run(evener, "devices", "--no-measure", environment=NO_DRIVER)
    equal(status, 0)
    contains(out, "No cards: " + why_none + "\n")
    status, out, err = run(evener, "run", "--devices", "vulkan:0", "hi", environment=NO_DRIVER)
    equal((status, out), (1, ""))
    contains(err, "cannot use Vulkan: no driver ")
    contains(err, "\n  install one: apt install mesa-vulkan-drivers")
    # What needs no card does not miss one.
    equal(run(evener, "run", "-n", "1", "hi", environment=NO_DRIVER)[0], 0)


def loader():
    with os.popen("/sbin/ldconfig -p") as lines:
        return next((line.split(" => ")[1].strip() for line in lines if line.strip().startswith("libvulkan.so.1 ")), None)


def test_without_the_loader_there_is_a_remedy(evener, data):
    path = loader()
    hidden = ("bwrap", "--dev-bind", "/", "/", "--bind", "/dev/null", os.path.realpath(path or "/"))
    if not path or not shutil.which("bwrap") or subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL).returncode:
        print("        nothing can be hidden here")
        return
    status, out, _ = run(*hidden, evener, "devices", "--no-measure")
    equal(status, 0)
    contains(out, "No cards: there is no Vulkan loader (libvulkan.so.1); install it with a driver: apt install ")
    status, _, err = run(*hidden, evener, "run", "--devices", "vulkan:0", "hi")
    equal(status, 1)
    contains(err, "cannot use Vulkan: there is no Vulkan loader (libvulkan.so.1)\n  install it with a driver: apt install ")
    equal(run(*hidden, evener, "run", "-n", "1", "hi")[0], 0)


def test_the_validation_layer_is_used_or_missed(evener, data):
    status, out, _ = run(evener, "devices", "--no-measure", environment={"EVENER_VULKAN_VALIDATION": "1"})
    equal(status, 0)
    if "No cards" in out:
        contains(out, "apt install vulkan-validationlayers")


if __name__ == "__main__":
    if not cards_of(sys.argv[1])[0]:
        print("skipped: there is no Vulkan here")
        sys.exit(SKIPPED)
    run_tests(globals(), *sys.argv[1:])
