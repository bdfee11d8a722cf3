#!/usr/bin/env python3
"""Writes the seed corpus tests/data/fuzz/gguf: small GGUF files, some valid, most wrong in one place.

Names begin with ok_ or bad_: what the reader must say of them (tests/gguf/seeds_test.cpp).
Usage: make_gguf_seeds.py FOLDER. The output is the same on every run.
"""
import struct
import sys
from pathlib import Path

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B",
        U64: "Q", I64: "q", F64: "d"}
TYPES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 12: (256, 144), 39: (32, 17), 40: (64, 36)}


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    if kind == STRING:
        return text(content)
    if kind == ARRAY:
        element, items = content
        body = b"".join(value(element, item) for item in items)
        return struct.pack("<IQ", element, len(items)) + body
    return struct.pack("<" + PACK[kind], content)


def entry(key, kind, content):
    return text(key) + struct.pack("<I", kind) + value(kind, content)


def tensor(name, shape, kind, offset):
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def file(entries=(), tensors=(), version=3, align=32, data=None):
    """tensors: (name, shape, type); their offsets follow from their sizes."""
    head = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(entries)) + b"".join(entries)
    at = 0
    for name, shape, kind in tensors:
        head += tensor(name, shape, kind, at)
        block, size = TYPES[kind]
        count = 1
        for dim in shape:
            count *= dim
        at += -(-(count // block * size) // align) * align
    head += b"\0" * (-len(head) % align)
    return head + bytes(i & 255 for i in range(at if data is None else data))


def patched(data, at, new):
    return data[:at] + new + data[at + len(new):]


LLAMA = [
    entry("general.architecture", STRING, "llama"),
    entry("llama.block_count", U32, 2),
    entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
    entry("tokenizer.ggml.tokens", ARRAY, (STRING, ["<s>", "a", "bc"])),
    entry("tokenizer.ggml.scores", ARRAY, (F32, [0.0, -1.0, -2.0])),
    entry("tokenizer.ggml.bos_token_id", U32, 0),
    entry("tokenizer.ggml.add_bos_token", BOOL, 1),
    entry("tokenizer.chat_template", STRING, "{% for m in messages %}{{ m.content }}{% endfor %}"),
]
TENSORS = [("token_embd.weight", [32, 3], 8), ("output_norm.weight", [32], 0), ("b", [5, 2, 1, 3], 1)]
ALL_KINDS = [entry(f"k{kind}", kind, 1) for kind in PACK] + [entry("s", STRING, b"\xff\0x")]
ARRAYS = [entry(f"a{kind}", ARRAY, (kind, [1, 0, 1])) for kind in PACK] + [
    entry("empty", ARRAY, (F32, [])),
    entry("nested", ARRAY, (ARRAY, [(U8, [1, 2]), (STRING, ["x"]), (ARRAY, [(I64, [-1 << 63])])])),
]
SPLIT = [entry("split.no", U16, 0), entry("split.count", U16, 2), entry("split.tensors.count", I32, 3)]
HUGE = struct.pack("<Q", (1 << 64) - 1)


def seeds():
    whole = file(LLAMA, TENSORS)
    yield "ok_llama", whole
    yield "ok_version2", file(LLAMA, TENSORS, version=2)
    yield "ok_empty", file()
    yield "ok_kinds", file(ALL_KINDS)
    yield "ok_arrays", file(ARRAYS)
    yield "ok_align64", file([entry("general.alignment", U32, 64)], TENSORS, align=64)
    yield "ok_align8", file([entry("general.alignment", U32, 8)], TENSORS, align=8)
    yield "ok_blocks", file([], [("q4_0", [64, 2], 2), ("q4_k", [256], 12), ("mxfp4", [32, 2], 39),
                                 ("nvfp4", [64, 1, 2], 40)])
    yield "ok_split_of_one", file([entry("split.count", U16, 1)], TENSORS)
    yield "ok_names", file([entry("a\n\x1b[0m", U8, 1), entry(b"\xff", U8, 1)], [("\u00e9 \t", [1], 0)])
    yield "bad_split", file(SPLIT, TENSORS)
    yield "bad_split_number", file([entry("split.count", STRING, "2")], TENSORS)
    for version in (0, 1, 4, 3 << 24):
        yield f"bad_version_{version}", file(LLAMA, version=version)
    for name, magic in (("zip", b"PK\3\4"), ("html", b"<!doctype html>"), ("pickle", b"\x80\2}"),
                        ("lfs", b"version https://git-lfs.github.com/spec/v1\n"), ("ggml", b"lmgg"),
                        ("safetensors", struct.pack("<Q", 2) + b"{}"), ("zeros", b"\0" * 40)):
        yield f"bad_format_{name}", magic
    yield "bad_count_tensors", patched(whole, 8, HUGE)
    yield "bad_count_entries", patched(whole, 16, HUGE)
    yield "bad_key_length", patched(whole, 24, HUGE)
    yield "bad_key_empty", file([entry("", U8, 1)])
    yield "bad_key_twice", file([entry("a", U8, 1), entry("a", U8, 2)])
    yield "bad_value_type", file([text("a") + struct.pack("<IQ", 13, 0)])
    yield "bad_bool", file([entry("a", BOOL, 2)])
    yield "bad_bool_in_array", file([entry("a", ARRAY, (BOOL, [1, 3]))])
    yield "bad_string_length", file([text("a") + struct.pack("<I", STRING) + HUGE])
    yield "bad_element_type", file([text("a") + struct.pack("<IIQ", ARRAY, 99, 1)])
    for name, element in (("u64", U64), ("u8", U8), ("string", STRING), ("array", ARRAY)):
        yield f"bad_array_length_{name}", file([text("a") + struct.pack("<II", ARRAY, element) + HUGE])
    deep = text("a") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 40
    yield "bad_array_depth", file([deep + struct.pack("<IQB", U8, 1, 1)])
    for alignment in (0, 1, 4, 48, 1 << 31):
        yield f"bad_alignment_{alignment}", file([entry("general.alignment", U32, alignment)], TENSORS)
    one = struct.pack("<4sIQQ", b"GGUF", 3, 1, 0)
    yield "bad_dims_0", one + tensor("t", [], 0, 0) + bytes(64)
    yield "bad_dims_5", one + tensor("t", [1] * 5, 0, 0) + bytes(64)
    yield "bad_dim_zero", one + tensor("t", [4, 0], 0, 0) + bytes(64)
    yield "bad_dim_overflow", one + tensor("t", [1 << 32, 1 << 32], 0, 0) + bytes(64)
    yield "bad_dim_overflow_bytes", one + tensor("t", [1 << 62], 28, 0) + bytes(64)
    yield "bad_row_of_half_blocks", one + tensor("t", [48], 8, 0) + bytes(64)
    yield "bad_tensor_type", one + tensor("t", [32], 77, 0) + bytes(64)
    yield "bad_tensor_type_retired", one + tensor("t", [32], 31, 0) + bytes(64)
    yield "bad_data_offset", one + tensor("t", [8], 0, 3) + bytes(64)
    yield "bad_data_overflow", one + tensor("t", [8], 0, (1 << 64) - 32) + bytes(64)
    yield "bad_data_end", whole[:-9]
    two = struct.pack("<4sIQQ", b"GGUF", 3, 2, 0)
    yield "bad_data_overlap", two + tensor("a", [16], 0, 0) + tensor("b", [8], 0, 32) + bytes(256)
    yield "bad_tensor_twice", two + tensor("a", [8], 0, 0) + tensor("a", [8], 0, 32) + bytes(256)


def main():
    folder = Path(sys.argv[1])
    for name, data in seeds():
        assert len(data) < 4096, name
        (folder / name).write_bytes(data)


main()
