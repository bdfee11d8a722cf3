#!/usr/bin/env python3
"""Makes tests/data/tokenizer: tricky texts and the ids that llama.cpp gives them.

    tokenizer_corpus.py --peer DIR --tiny35 FILE --golden DIR --out tests/data/tokenizer

DIR of --peer holds peer.py, which loads llama.cpp's library (PEER_LLAMA_DIR names that); --tiny35
is the bundled model, --golden the folder of the golden models. Everything is seeded: the same peer
gives the same bytes.

    texts.txt      one text a line: \\\\ \\n \\xNN escaped, everything else as it is
    NAME.gguf      a vocabulary without tensors
    NAME.ids       a line a text: ids without special tokens parsed, then "|" and the ids with them
                   parsed if those differ
    NAME.decoded   lines "ids|hex bytes": random ids and what they decode to
    golden.cases   tab-separated: NAME, text, ids plain, parsed, with bos: the golden manifest's cases
    splits.txt     lines "PRE sums": 4 hex digits a text, for the vocabulary of all byte pairs
"""

import argparse
import ctypes
import json
import random
import struct
import sys
import tempfile
import zlib
from pathlib import Path

SEED = 20261129
PRETOKENIZERS = ["default", "llama-bpe", "dbrx", "glm4", "qwen2", "qwen35", "stablelm2", "gpt-2",
                 "falcon", "starcoder", "smollm", "command-r", "exaone", "deepseek-llm",
                 "deepseek-coder", "deepseek-v3", "bailingmoe", "seed-coder", "minicpm5", "bloom",
                 "viking"]

# ---------------------------------------------------------------------- texts

WORDS = """the quick brown fox jumps over the lazy dog and then because hungry don't know where
they're going it's not that easy to tell numbers like here too rain in plain is on train Lily Once
upon a time there was little girl named mom said happy play with ball ROMEO KING HTTPServer camelCase
snake_case kebab-case don’t I'LL We'Re you've he'd I'm O'Neill 'tis rock'n'roll l'été""".split()
SCRIPTS = {
    "latin": "naïve café Straße ÅNGSTRÖM Łódź İstanbul ıssız ŒUVRE ǅungla ſtill ﬁne ªº".split(),
    "cyrillic": "Привет мир ёлка ЩИ съешь Ђорђе".split(),
    "greek": "Ελλάδα ΣΊΣΥΦΟΣ ἀρχή μ µ Ωmega".split(),
    "chinese": "你好世界 中文分词测试 龥龦 㐀㐁 𠀀𠀁 「引用」 ，。！？ 〇 ２０２６年".split(),
    "japanese": "こんにちは カタカナ ﾊﾝｶｸ 日本語テスト ヿゟ々〆".split(),
    "korean": "안녕하세요 한국어 ㄱㄴㄷ 가힣 \u1100\u1161\u11a8".split(),
    "hindi": "हिन्दी नमस्ते क्षत्रिय १२३ ॐ".split(),
    "bengali": "বাংলা ভাষা ১২৩".split(),
    "tamil": "தமிழ் மொழி".split(),
    "thai": "ภาษาไทย สวัสดี ๑๒๓ กำ".split(),
    "arabic": "السلام عليكم مَرْحَبًا ١٢٣ لا".split(),
    "hebrew": "שלום עִבְרִית ״גרש״".split(),
    "others": "Ꭰꮳ ქართული Ⴀ ᏣᎳᎩ ԱՐԵՎ ⴰⵣⵓⵍ 𐐀𐐨 𝒜𝓫𝕔 ⅷⅧ ꙮ ᠠ ⵥ".split(),
}
EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "❤️", "☺", "1️⃣", "🧑🏿‍🚀", "⌚", "🫠", "™", "©️"]
SPACES = [" ", "  ", "   ", "\t", "\t\t", " \t ", "\u00a0", "\u2003", "\u3000", "\u200b", "\u202f",
          "\u2028", "\u0085", "\u180e", "\x1c", "\x0b", "\x0c", "\ufeff", "\u1680"]
BREAKS = ["\n", "\r\n", "\r", "\n\n", "\n\n\n", " \n", "\n ", "\r\n\r\n", "\t\n", " \r\n  ", "\n\t"]
NUMBERS = ["0", "7", "12", "345", "6789", "12345", "1234567", "3.14", "1,000,000", "-5", "1e-7", "0xFF",
           "٤٥٦٧", "１２３４", "½", "²³", "Ⅻ", "①②③④", "१२३४५", "𝟘𝟙𝟚𝟛"]
SYMBOLS = ["!", "!!", "...", "?!", "()", "(a)", "[x]", "{}", "</s>x", "<br/>", "$5", "€", "£3", "+", "==",
           "!==", "->", "=>", "::", "//", "/*", "*/", "#", "@user", "&amp;", "^", "~", "`x`", "``` ", "|",
           "\\", "\\n", "«»", "“q”", "…", "—", "–", "•", "°C", "§", "¿¡", "№", "×÷", "∑∫", "'", "''", "\"", "_",
           "__", "a_b", "'sa", ";\n", "/\n", " (", "'S", "'LL", "'ſ", " 's", "’s", "%"]
MARKS = ["e\u0301", "\u0301e", "\u0301", " \u0301", "a\u0308\u0323", "Z̸͑ͫ", "\u20dd", "क\u093c", "\u0e33", "1\u0301",
         "\u0300\u0301\u0302", "\ufe0f", "\u200d", "\u200c", ".\u0301", "\n\u0301"]
CONTROLS = ["\0", "\0\0", "a\0b", "\x01", "\x1b[0m", "\x7f", "\x80", "\xad", "\x08", "\ue000", "\uf8ff",
            "\U000e0001", "\U0010ffff", "\uffff", "\ufffd", "\u0378", "\U0003fffe", "\u2060", "\u061c"]
CODE = ["def f(x):\n    return x**2\n", "for(int i=0;i<10;++i){\n\ta[i]+=b;\n}", "if x != y:\n        pass",
        "std::vector<int> v{1,2,3};", "SELECT * FROM t WHERE a='b';", "{\"k\": [1, 2.5, null]}", "<p class=\"x\">hi</p>",
        "#!/bin/sh\necho \"$HOME\" | sed 's/a/b/g'", "x = lambda: None  # comment", "https://example.com/a?b=c&d=%20",
        "C:\\dir\\file.txt", "user@example.com", "2026-11-29T17:33:09Z", "1.2.3-rc4+build", "\\frac{a}{b}^2_i"]
SPECIALS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "</tool_call>",
            "<s>", "</s>", "<unk>", "<0x0A>", "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>",
            "<|start_header_id|>", "<|end_header_id|>", "<|im_start", "|im_end|>", "<|im_start|><|im_start|>",
            "< think>", "<think", "<<think>>", "<s></s>", "<|eot_id|", "▁", "▁the", "[PAD1]", "<THINK>"]
GROUPS = [WORDS, WORDS, WORDS, *SCRIPTS.values(), EMOJI, SPACES, SPACES, BREAKS, NUMBERS, NUMBERS, SYMBOLS,
          SYMBOLS, MARKS, CONTROLS, CODE, SPECIALS]
RUNS = [" ", "\n", "a", "A", "1", "!", "é", "中", "ก", "😀", "\u0301", "\t", "\r\n", " \n", "'s", "-", "ab", "a ",
        "the ", " a", "٣", "ǅ", "ー", "\0", "<", "<think>", "=", "  x", "0 ", "…", "_"]


def valid_texts(rng):
    yield ""
    for group in GROUPS:
        yield from group
    for text in SYMBOLS + MARKS + SPACES + BREAKS + NUMBERS + CONTROLS:
        yield f"a{text}b"
        yield f" {text} "
    for text in SPECIALS:
        yield f"the {text} fox"
        yield f"{text}\nthe{text} "
        yield f"  {text}  {text}x"
    for _ in range(420):                                   # sentences of one script
        group = rng.choice([WORDS, WORDS, *SCRIPTS.values()])
        yield rng.choice(["", " ", "\n"]) + " ".join(rng.choices(group, k=rng.randint(2, 8))) + \
            rng.choice(["", ".", "!", " ", "\n", " \n\n", "。"])
    for _ in range(620):                                   # everything beside everything
        yield "".join(rng.choice(rng.choice(GROUPS)) + rng.choice(["", "", " "])
                      for _ in range(rng.randint(2, 6)))
    for _ in range(120):                                   # spaces and line breaks
        yield "".join(rng.choice(rng.choice([SPACES, BREAKS, BREAKS, ["x", "the", "1", "!"]]))
                      for _ in range(rng.randint(2, 9)))
    for _ in range(120):                                   # words glued to numbers and signs
        yield "".join(rng.choice(rng.choice([WORDS, NUMBERS, SYMBOLS, MARKS]))
                      for _ in range(rng.randint(2, 7)))
    for run in RUNS:
        for count in (2, 3, 4, 7, 16, 33, 100):
            yield run * count
        yield "x" + run * 21 + "y"
    yield "the quick brown fox " * 60
    yield "0123456789" * 60


def invalid_texts(rng):
    pieces = [b"\x80", b"\xbf\xbf", b"\xc3", b"\xc3(", b"\xe4\xbd", b"\xe4(", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xff",
              b"\xfe\xfe", b"\xe2\x82", b"\xf8\x88\x80\x80\x80"]
    for piece in pieces:
        yield piece
        yield b"a" + piece + b"b"
        yield b" " + piece + b" the\n"
    for _ in range(150):
        parts = [rng.choice(pieces) if rng.random() < .4 else rng.choice(rng.choice(GROUPS)).encode()
                 for _ in range(rng.randint(2, 6))]
        yield b"".join(parts)


def lossless_for_peer(data):
    """Whether llama.cpp's lenient decoder sees the same invalid bytes as a strict one."""
    at = 0
    while at < len(data):
        lead = data[at]
        size = 1 if lead < 0x80 else 0 if lead < 0xc0 else 2 if lead < 0xe0 else 3 if lead < 0xf0 else \
            4 if lead < 0xf8 else 0
        taken = data[at:at + size]
        lenient = size > 0 and len(taken) == size and all(b & 0xc0 == 0x80 for b in taken[1:])
        try:
            taken.decode()
            strict = size > 0
        except UnicodeDecodeError:
            strict = False
        if lenient != strict:
            return False
        at += size if lenient else 1
    return True


def all_texts():
    rng = random.Random(SEED)
    texts = [text.encode("utf-8", "surrogatepass") for text in valid_texts(rng)]
    texts += [text for text in invalid_texts(rng) if lossless_for_peer(text)]
    return list(dict.fromkeys(texts))


def escaped(data):
    """A line for texts.txt. Backslash, controls and bytes that are no UTF-8 are escaped, and so are
    characters at which editors and Git see a line's end or nothing."""
    out = []
    for c in data.decode("utf-8", "surrogateescape"):
        raw = c.encode("utf-8", "surrogateescape")
        if c == "\\":
            out.append("\\\\")
        elif c == "\n":
            out.append("\\n")
        elif c.isprintable():
            out.append(c)
        else:
            out.append("".join(f"\\x{b:02X}" for b in raw))
    return "".join(out)


# ----------------------------------------------------------------------- GGUF

PACK = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_metadata(path):
    """{key: (type, value)}; an array's value is (element type, list)."""
    data, at = Path(path).read_bytes(), 0

    def take(form):
        nonlocal at
        value, = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return value

    def value(kind):
        nonlocal at
        if kind == 8:
            size = take("Q")
            at += size
            return data[at - size:at]
        if kind == 9:
            inner, count = take("I"), take("Q")
            return inner, [value(inner) for _ in range(count)]
        return take(PACK[kind])

    at = 16
    count = take("Q")
    found = {}
    for _ in range(count):
        key = value(8).decode()
        kind = take("I")
        found[key] = (kind, value(kind))
    return found


def write_metadata(path, metadata):
    def text(data):
        return struct.pack("<Q", len(data)) + data

    def value(kind, item):
        if kind == 8:
            return text(item)
        if kind == 9:
            inner, items = item
            return struct.pack("<IQ", inner, len(items)) + b"".join(value(inner, x) for x in items)
        return struct.pack("<" + PACK[kind], item)

    body = struct.pack("<4sIQQ", b"GGUF", 3, 0, len(metadata))
    for key, (kind, item) in metadata.items():
        body += text(key.encode()) + struct.pack("<I", kind) + value(kind, item)
    Path(path).write_bytes(body + b"\0" * (-len(body) % 32))


def vocabulary_of(path):
    metadata = read_metadata(path)
    keep = {"general.architecture": metadata["general.architecture"]}
    keep |= {key: item for key, item in metadata.items()
             if key.startswith("tokenizer.ggml") and "chat_template" not in key}
    return keep


def byte_alphabet():
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in keep]
    return [chr(b) if b in keep else chr(256 + others.index(b)) for b in range(256)]


def pair_vocabulary(pre):
    """All bytes and all pairs of bytes; pair (a, b) merges with rank (b, a) order, so that where a
    word ends shows in how its neighbours pair up."""
    letters = byte_alphabet()
    pairs = [(a, b) for b in range(256) for a in range(256)]
    tokens = [c.encode() for c in letters] + [(letters[a] + letters[b]).encode() for a, b in pairs]
    merges = [(letters[a] + " " + letters[b]).encode() for a, b in pairs]
    return {
        "general.architecture": (8, b"llama"),
        "tokenizer.ggml.model": (8, b"gpt2"),
        "tokenizer.ggml.pre": (8, pre.encode()),
        "tokenizer.ggml.tokens": (9, (8, tokens)),
        "tokenizer.ggml.merges": (9, (8, merges)),
        "tokenizer.ggml.bos_token_id": (4, 0),
        "tokenizer.ggml.eos_token_id": (4, 0),
        "tokenizer.ggml.add_bos_token": (7, False),
    }


# ----------------------------------------------------------------------- peer

def encode(model, text, parse):
    room = 3 * len(text) + 16  # an invalid byte becomes three
    ids = (ctypes.c_int32 * room)()
    count = model.lib.llama_tokenize(model.vocab, text, len(text), ids, room, False, parse)
    assert count >= 0
    return list(ids[:count])


def ids_line(plain, parsed):
    line = " ".join(map(str, plain))
    return line if parsed == plain else line + "|" + " ".join(map(str, parsed))


def decoded_lines(model, rng):
    for _ in range(120):
        ids = [rng.randrange(model.n_vocab) for _ in range(rng.randint(1, 12))]
        yield " ".join(map(str, ids)) + "|" + model.detokenize(ids).hex()


def golden_lines(manifest, names):
    for name, model in names.items():
        for case in manifest["models"][model]["tokenize"]:
            ids = [" ".join(map(str, case[key])) for key in ("plain", "special", "with_bos")]
            yield "\t".join([name, escaped(case["text"].encode()), *ids])


def checksum(ids):
    return zlib.crc32(struct.pack(f"<{len(ids)}i", *ids)) & 0xffff


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("peer", "tiny35", "golden", "out"):
        parser.add_argument("--" + name, required=True, type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(options.peer))
    sys.dont_write_bytecode = True
    from peer import Peer
    peer, out = Peer(), options.out
    out.mkdir(parents=True, exist_ok=True)
    texts = all_texts()
    (out / "texts.txt").write_text("".join(escaped(t) + "\n" for t in texts), encoding="utf-8")
    print(len(texts), "texts")

    sources = {"tiny35": options.tiny35, "llama-bpe": options.golden / "llama3-factors.gguf",
               "qwen2": options.golden / "qwen3.gguf", "spm": options.golden / "llama.gguf"}
    for name, path in sources.items():
        write_metadata(out / f"{name}.gguf", vocabulary_of(path))
        with peer.load(path, vocab_only=True) as model:
            lines = [ids_line(encode(model, t, False), encode(model, t, True)) for t in texts]
            (out / f"{name}.ids").write_text("".join(line + "\n" for line in lines))
            if name != "llama-bpe":                        # there the peer cleans up spaces
                rng = random.Random(f"{SEED} {name}")
                (out / f"{name}.decoded").write_text("".join(f"{x}\n" for x in decoded_lines(model, rng)))

    manifest = json.loads((options.golden.parent / "manifest.json").read_text())
    names = {"llama-bpe": "llama3-factors", "qwen2": "qwen3", "spm": "llama"}
    (out / "golden.cases").write_text("".join(x + "\n" for x in golden_lines(manifest, names)))

    with tempfile.TemporaryDirectory() as folder, open(out / "splits.txt", "w") as splits:
        for pre in PRETOKENIZERS:
            path = Path(folder) / "pairs.gguf"
            write_metadata(path, pair_vocabulary(pre))
            with peer.load(path, vocab_only=True) as model:
                sums = "".join(f"{checksum(encode(model, t, False)):04x}" for t in texts)
            splits.write(f"{pre} {sums}\n")
            print(pre)


if __name__ == "__main__":
    main()
