#!/usr/bin/env python3
"""Writes the seed corpus tests/data/fuzz/safetensors: small files, some valid, most wrong in one place.

Names begin with ok_ or bad_: what the reader must say of them (tests/safetensors/seeds_test.cpp).
Usage: make_safetensors_seeds.py FOLDER. The output is the same on every run.
"""
import json
import struct
import sys
from pathlib import Path


def file(header, data_bytes, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + bytes(range(data_bytes))


def tensor(begin, end, shape, dtype="U8"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


ONE = {"a": tensor(0, 8, [2], "F32")}
TYPES = [("F64", 8), ("F32", 4), ("F16", 2), ("BF16", 2), ("F8_E4M3", 1), ("F8_E5M2", 1), ("I64", 8),
         ("U64", 8), ("I32", 4), ("U32", 4), ("I16", 2), ("U16", 2), ("I8", 1), ("U8", 1), ("BOOL", 1)]


def all_types():
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, size in TYPES:
        header["t." + name] = tensor(at, at + size, [1], name)
        at += size
    return file(header, at)


SEEDS = {
    "ok_one": file(ONE, 8),
    "ok_empty": file({}, 0),
    "ok_types": all_types(),
    "ok_padded": file(json.dumps(ONE).encode() + b"  ", 8),
    "ok_scalar_and_none": file({"s": tensor(0, 1, []), "n": tensor(1, 1, [0, 3])}, 1),
    "ok_order": file({"a": tensor(1, 2, [1]), "b": tensor(0, 1, [1])}, 2),
    "bad_no_length": b"\x02\0\0",
    "bad_length": file({}, 0, length=3),
    "bad_length_huge": file({}, 0, length=2**64 - 1),
    "bad_list": file(b"[]", 0),
    "bad_json": file(b"{", 0),
    "bad_utf8": file(b'{"\xff":1}', 0),
    "bad_twice": file(b'{"a":1,"a":2}', 0),
    "bad_depth": file(b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", 0),
    "bad_entry": file({"a": 3}, 0),
    "bad_type": file({"a": tensor(0, 1, [1], "Q4_K")}, 1),
    "bad_size": file({"a": tensor(0, 7, [2], "F32")}, 7),
    "bad_dims": file({"a": tensor(0, 1, [1] * 9)}, 1),
    "bad_overflow": file({"a": tensor(0, 1, [2**63, 2])}, 1),
    "bad_negative": file({"a": tensor(0, 1, [-1])}, 1),
    "bad_offsets": file({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0]}}, 1),
    "bad_backwards": file({"a": tensor(1, 0, [1])}, 1),
    "bad_end": file({"a": tensor(0, 2, [2])}, 1),
    "bad_overlap": file({"a": tensor(0, 2, [2]), "b": tensor(1, 3, [2])}, 3),
    "bad_gap": file({"a": tensor(0, 1, [1]), "b": tensor(2, 3, [1])}, 3),
    "bad_rest": file({"a": tensor(0, 1, [1])}, 2),
    "bad_lfs": b"version https://git-lfs.github.com/spec/v1\n",
}

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, data in SEEDS.items():
    (folder / name).write_bytes(data)
