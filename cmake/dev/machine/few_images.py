"""few_images.py FOLDER: writes the first images of the example's data into a folder, as a data set.

An emulated machine trains on them in minutes. The test for one image is its place in the files, so
the set is the same every time.
"""
import gzip
import pathlib
import struct
import sys

COUNTS = {"train": 600, "t10k": 200}
IMAGE_BYTES = 28 * 28

source = pathlib.Path("examples/mnist/data")
folder = pathlib.Path(sys.argv[1])
for part, count in COUNTS.items():
    for name, dimensions, bytes_each in (
        (f"{part}-images-idx3-ubyte", 3, IMAGE_BYTES),
        (f"{part}-labels-idx1-ubyte", 1, 1),
    ):
        with gzip.open(source / f"{name}.gz") as whole:
            magic, _ = struct.unpack(">II", whole.read(8))
            other_dimensions = whole.read(4 * (dimensions - 1))
            samples = whole.read(count * bytes_each)
        (folder / name).write_bytes(struct.pack(">II", magic, count) + other_dimensions + samples)
