# Compares rota with the reference library of safetensors: each reads the files of the other, and
# rota refuses every mutated file that the reference refuses. Beyond these, rota refuses files only
# for the reasons that <rota/safetensors.h> lists.
# Usage: judge_safetensors.py PROGRAM FOLDER. ROTA_MUTATIONS: how many files are mutated (10,000).
import collections
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

import numpy
import safetensors

TYPES = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16,
         "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64,
         "U64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}
# The names by which the reference writes types. The other types it only reads, or packs.
WRITTEN_AS = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2",
              "F8_E4M3": "float8_e4m3fn", "F8_E8M0": "float8_e8m0fnu", "I16": "int16",
              "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32",
              "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64",
              "C64": "complex64"}
STRICTER = re.compile(r" twice|begins with '\{'|nested more than 8|"
                      r"has an object in its dtype|"
                      r"has (null|a list) as the value of .*, expected an object")

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
mutation_count = int(os.environ.get("ROTA_MUTATIONS", "10000"))


def counted(bits):
    return bytes(i % 251 for i in range(bits // 8))


def count_of(shape):
    count = 1
    for side in shape:
        count *= side
    return count


def file_of(header, data, padding=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += padding
    return struct.pack("<Q", len(text)) + text + data


def reference_reads_ours():
    path = folder / "ours.safetensors"
    subprocess.run([program, "write", path], check=True)
    read = dict(safetensors.deserialize(path.read_bytes()))
    assert len(read) == 10, read.keys()
    for name, tensor in read.items():
        shape, bits = tensor["shape"], TYPES[tensor["dtype"]]
        assert name not in TYPES or tensor["dtype"] == name, (name, tensor["dtype"])
        assert bytes(tensor["data"]) == counted(count_of(shape) * bits), name
    assert read["F32"]["shape"] == [2, 3, 4] and read["F64"]["shape"] == []
    with safetensors.safe_open(path, "numpy") as opened:
        assert opened.metadata() == {"format": "pt", '"\n': "ß"}, opened.metadata()
        assert opened.get_tensor("I32").tolist() == [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c]


def we_read_the_reference():
    path = folder / "theirs.safetensors"
    tensors = {name: ([4, 2], counted(8 * bits)) for name, bits in TYPES.items()}
    buffers = {name: numpy.frombuffer(data, numpy.uint8) for name, (_, data) in tensors.items()}
    specs = {name: safetensors.TensorSpec(dtype=dtype, shape=tensors[name][0],
                                          data_ptr=buffers[name].ctypes.data,
                                          data_len=len(tensors[name][1]))
             for name, dtype in WRITTEN_AS.items()}
    path.write_bytes(safetensors.serialize(specs, {"a": "1", "ß": "\n"}))
    compare_with_reference(path, set(WRITTEN_AS))
    end = 0
    header = {}
    for name, (_, data) in tensors.items():  # In an order without any alignment.
        header[name] = {"dtype": name, "shape": [4, 2], "data_offsets": [end, end + len(data)]}
        end += len(data)
    path.write_bytes(file_of(header, b"".join(data for _, data in tensors.values())))
    compare_with_reference(path, set(TYPES))


def compare_with_reference(path, names):
    ours = json.loads(subprocess.run([program, "read", path], check=True, capture_output=True).stdout)
    theirs = {name: {"dtype": tensor["dtype"], "shape": tensor["shape"],
                     "data": bytes(tensor["data"]).hex()}
              for name, tensor in safetensors.deserialize(path.read_bytes())}
    assert set(theirs) == names, theirs.keys()
    assert ours["tensors"] == theirs, (ours, theirs)
    with safetensors.safe_open(path, "numpy") as opened:
        assert ours["metadata"] == (opened.metadata() or {})


class Mutator:
    """Makes a file that is good or nearly good. The seed decides everything."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def good(self):
        header, data, end = {}, b"", 0
        if self.random.random() < 0.3:
            header["__metadata__"] = {"k": "v", "ß": "\\"}
        for i in range(self.random.randrange(4)):
            dtype = self.random.choice(list(TYPES))
            shape = [self.random.choice([0, 1, 2, 3, 8]) for _ in range(self.random.randrange(4))]
            bits = count_of(shape) * TYPES[dtype]
            if bits % 8:
                shape, bits = [8], 8 * TYPES[dtype]
            header["t%d" % i] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + bits // 8]}
            data += counted(bits)
            end += bits // 8
        return header, data

    def number(self):
        return self.random.choice([0, 1, 2, 3, 4, 7, 8, 12, 16, 255, 2**31, 2**32, 2**61, 2**63,
                                   2**64 - 1, 2**64, -1, 1.0, 1.5, "1", None, True, [1], {}])

    def mutate_entry(self, entry):
        field = self.random.choice(["dtype", "shape", "data_offsets"])
        kind = self.random.randrange(7)
        if kind == 0:
            entry.pop(field)
        elif kind == 1:
            entry[field] = self.number()
        elif kind == 2:
            entry["x"] = self.random.choice([1, None, [[[[1.5]]]], {"y": {"z": [-1]}}, "ß",
                                             [[[[[[[[[[]]]]]]]]]], 1e300])
        elif kind == 3:
            entry["dtype"] = self.random.choice(list(TYPES) + ["F33", "f32", "", {"F32": None}])
        elif kind == 4 and entry["shape"]:
            entry["shape"][self.random.randrange(len(entry["shape"]))] = self.number()
        elif kind == 5:
            entry["data_offsets"][self.random.randrange(2)] = self.number()
        else:
            entry["shape"].insert(0, self.number())

    def mutate_header(self, header):
        names = [name for name in header if name != "__metadata__"]
        kind = self.random.randrange(8)
        if kind < 5 and names:
            self.mutate_entry(header[self.random.choice(names)])
        elif kind == 5 and names:
            name = self.random.choice(names)
            entry = header[name]
            header[name] = self.random.choice([1, None, "x", [], [entry["dtype"], entry["shape"],
                                                                  entry["data_offsets"]]])
        elif kind == 6:
            header["__metadata__"] = self.random.choice([None, {}, {"k": 1}, [], "x", {"k": None},
                                                         {"k": {}}, {"": ""}])
        elif names:  # A hole, an overlap, or another order.
            shift = self.random.choice([-1, 1, 8])
            header[names[-1]]["data_offsets"] = [offset + shift for offset in
                                                 header[names[-1]]["data_offsets"]]

    def mutate_text(self, text):
        kind = self.random.randrange(9)
        at = self.random.randrange(len(text) + 1)
        if kind == 0:
            return text[:at] + bytes([self.random.randrange(256)]) + text[at + 1:]
        if kind == 1:
            return text[:at] + text[at + 1:]
        if kind == 2:
            return text[:at] + self.random.choice(
                [b"\0", b" ", b"\t", b",", b'"', b"\xff", b"\xc3\xa9", b"\\u0000", b"\\ud800", b"1", b"-",
                 b"e5", b".0", b"{", b"}", b"//", b"\xef\xbb\xbf", b"0"]) + text[at:]
        if kind == 3:  # A name occurs twice.
            return text.replace(b'"t1"', b'"t0"').replace(b'"t2"', b'"\\u00740"')
        if kind == 4:
            return self.random.choice([b" ", b"\n", b"\xef\xbb\xbf", b"\0"]) + text
        if kind == 5:
            return text + self.random.choice([b"   ", b"\n\t", b"\0", b"x", b"{}", b"\xff"])
        if kind == 6:
            return text[:at]
        if kind == 7:
            return text.replace(b'"shape"', b'"dtype"', 1)
        return text.replace(b'"k": "v"', self.random.choice(
            [b'"k": "v", "k": "w"', b'"k": "\\ud800"', b'"k": "\\ud83d\\ude00"', b'"k": "\x01"']))

    def file(self):
        header, data = self.good()
        kind = self.random.randrange(12)
        if kind < 6:
            self.mutate_header(header)
        text = json.dumps(header, ensure_ascii=self.random.random() < 0.5).encode()
        if 4 <= kind < 10:
            text = self.mutate_text(text)
        length = len(text)
        if kind == 10:
            length = self.random.choice([0, 1, length - 1, length + 1, length + len(data), 2**32,
                                         100_000_000, 100_000_001, 2**63, 2**64 - 1])
        if self.random.random() < 0.05:
            data = self.random.choice([data[:-1], data + b"\0", b""])
        file = struct.pack("<Q", length) + text + data
        return file[:self.random.randrange(len(file) + 1)] if kind == 11 else file


def reference_verdict(file):
    try:
        return {name: {"dtype": tensor["dtype"], "shape": tensor["shape"], "bytes": len(tensor["data"])}
                for name, tensor in safetensors.deserialize(file)}
    except Exception as error:  # Its errors have no common class for bytes.
        return str(error)


def judge_part(first, count):
    files = [Mutator(seed).file() for seed in range(first, first + count)]
    stream = b"".join(struct.pack("<Q", len(file)) + file for file in files)
    lines = subprocess.run([program, "judge"], input=stream, check=True, capture_output=True).stdout
    verdicts = [json.loads(line) for line in lines.splitlines()]
    assert len(verdicts) == count
    counts = collections.Counter()
    for seed, (file, ours) in enumerate(zip(files, verdicts), first):
        theirs = reference_verdict(file)
        where = f"seed {seed}: {file!r}: the reference says {theirs!r}, and rota says {ours!r}"
        if isinstance(theirs, str):
            counts["both refuse"] += 1
            assert "refused" in ours, where
        elif "refused" in ours:
            counts["only rota refuses"] += 1
            assert STRICTER.search(ours["refused"]), where
        else:
            counts["both accept"] += 1
            assert ours["tensors"] == theirs, where
    return counts


reference_reads_ours()
we_read_the_reference()
total = collections.Counter()
for begin in range(0, mutation_count, 10_000):
    total += judge_part(begin, min(10_000, mutation_count - begin))
print(dict(total))
# All three must be common, or the mutations would show nothing.
assert min(total["both refuse"], total["both accept"]) > mutation_count // 5, total
assert total["only rota refuses"] > mutation_count // 100, total
