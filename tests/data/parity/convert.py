#!/usr/bin/python3
"""Turns the .npz fixtures of a published implementation into the .safetensors next to this script:
float32, complex numbers as pairs (a last axis of two), counters left out. Usage: convert.py FOLDER_OF_NPZ"""
import json
import pathlib
import struct
import sys

import numpy

here = pathlib.Path(__file__).parent
for source in sorted(pathlib.Path(sys.argv[1]).glob("*.npz")):
    header, blobs, offset = {}, [], 0
    with numpy.load(source) as arrays:
        header["__metadata__"] = {"args": str(arrays["args"])}
        for name in sorted(arrays.files):
            array = arrays[name]
            if name == "args" or array.dtype.kind in "iu":
                continue
            if array.dtype.kind == "c":
                array = array.astype(numpy.complex64).view(numpy.float32).reshape(*array.shape, 2)
            blob = numpy.ascontiguousarray(array, dtype="<f4").tobytes()
            header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + len(blob)]}
            offset += len(blob)
            blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (here / (source.stem + ".safetensors")).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))
