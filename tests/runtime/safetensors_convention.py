"""Model files by the published safetensors convention, read without lano: what Python's library demands of a file,
and the values in it.
Usage: safetensors_convention.py LANO MODEL... (the first is the 9x9 Darcy model of version 1)"""
import array
import json
import math
import re
import struct
import subprocess
import sys

ITEM = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a key twice")
    return dict(pairs)


def read(data):
    """name -> numbers, and the metadata; ValueError where the convention is broken."""
    if len(data) < 8:
        raise ValueError("no header length")
    (length,) = struct.unpack("<Q", data[:8])
    if length > 100_000_000 or 8 + length > len(data):
        raise ValueError("header length")
    text = data[8 : 8 + length].decode("utf-8")
    if not text.startswith("{"):
        raise ValueError("the header does not begin with {")
    if not re.fullmatch(r"\{.*\} *", text, re.S):
        raise ValueError("something other than spaces behind the header")
    if (8 + length) % 8 != 0:
        raise ValueError("tensors not aligned to 8 bytes")
    header = json.loads(text, object_pairs_hook=unique)
    metadata = header.pop("__metadata__", {})
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("metadata that is no text")
    body, tensors, at = data[8 + length :], {}, 0
    for name, info in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if set(info) != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"{name}: keys {sorted(info)}")
        begin, end = info["data_offsets"]
        if begin != at:
            raise ValueError(f"{name} begins at {begin}, the one before ends at {at}")
        if end - begin != math.prod(info["shape"]) * ITEM[info["dtype"]]:
            raise ValueError(f"{name}: bytes and shape differ")
        at = end
        if info["dtype"] != "F32":
            raise ValueError(f"{name}: {info['dtype']}")
        tensors[name] = array.array("f", body[begin:end])
        if sys.byteorder == "big":
            tensors[name].byteswap()
    if at != len(body):
        raise ValueError("bytes behind the last tensor")
    return tensors, metadata


def broken():
    """Files that break one rule each: the reader above must notice."""
    def made(header, body, pad=8):
        text = header if isinstance(header, str) else json.dumps(header)
        text += " " * (-len(text) % pad)
        return struct.pack("<Q", len(text)) + text.encode() + body
    x = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    good = made({"x": x}, b"\0" * 8)
    read(good)
    yield "hole", made({"x": {**x, "data_offsets": [4, 12]}}, b"\0" * 12)
    yield "overlap", made({"x": x, "y": {**x, "data_offsets": [4, 12]}}, b"\0" * 12)
    yield "behind", good + b"\0"
    yield "cut", good[:-1]
    yield "shape", made({"x": {**x, "shape": [3]}}, b"\0" * 8)
    yield "metadata", made({"__metadata__": {"a": 1}, "x": x}, b"\0" * 8)
    yield "length", struct.pack("<Q", 1 << 40) + good[8:]
    yield "twice", made('{"x": %s, "x": %s}' % (json.dumps(x), json.dumps(x)), b"\0" * 8)
    odd = json.dumps({"x": x})
    odd += " " * (-len(odd) % 8 + 1)
    yield "alignment", struct.pack("<Q", len(odd)) + odd.encode() + b"\0" * 8


def main(lano, paths):
    for name, data in broken():
        try:
            read(data)
        except (ValueError, json.JSONDecodeError):
            continue
        raise AssertionError(f"a file with a fault of kind '{name}' was taken")
    for path in paths:
        with open(path, "rb") as file:
            tensors, metadata = read(file.read())
        assert metadata["format"] == "lano-model", metadata
        for key in ("architecture", "set", "normaliser", "provenance"):
            json.loads(metadata[key])
        assert all(math.isfinite(value) for values in tensors.values() for value in values)
        # The number of parameters that lano itself finds in it.
        said = subprocess.run([lano, "info", path], check=True, capture_output=True, text=True).stdout
        wanted = int(re.search(r"(\d+) parameters", said).group(1))
        found = sum(len(values) for name, values in tensors.items() if name != "set.coordinates")
        assert found == wanted, (found, wanted)
        try:
            import safetensors.numpy
        except ImportError:
            library = "the Python library is not installed"
        else:
            theirs = safetensors.numpy.load_file(path)
            assert set(theirs) == set(tensors)
            assert all(theirs[name].ravel().tolist() == list(tensors[name]) for name in tensors)
            library = "the Python library reads the same"
    first = read(open(paths[0], "rb").read())[0]
    for point in range(81):  # middles of cells
        for axis, index in enumerate(divmod(point, 9)):
            assert abs(first["set.coordinates"][2 * point + axis] - (index + 0.5) / 9) < 1e-6
    print(f"{len(paths)} files follow the convention; {library}")


main(sys.argv[1], sys.argv[2:])
