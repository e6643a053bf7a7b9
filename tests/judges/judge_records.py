# Compares rota with TensorBoard, whose reader and writer of records are TensorFlow's in Python: each
# reads the files of the other. The reader checks both checksums of a record.
# Usage: judge_records.py PROGRAM FOLDER.
import pathlib
import subprocess
import sys

from tensorboard.compat.tensorflow_stub import errors
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.summary.writer.record_writer import RecordWriter

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
ours, theirs = folder / "ours.tfrecord", folder / "theirs.tfrecord"
expected = [bytes(i % 251 for i in range(size)) for size in range(300)]


def read_by_reference(path):
    reader = PyRecordReader_New(str(path))
    records = []
    try:
        while True:
            reader.GetNext()
            records.append(reader.record())
    except errors.OutOfRangeError:
        return records


for path in (ours, folder / "ours.tfrecord.index"):
    path.unlink(missing_ok=True)
subprocess.run([program, "write", ours], check=True)
assert read_by_reference(ours) == expected

with open(theirs, "wb") as file:
    writer = RecordWriter(file)
    for record in expected:
        writer.write(record)
    writer.flush()
assert theirs.read_bytes() == ours.read_bytes()
lines = subprocess.run([program, "read", theirs], check=True, capture_output=True).stdout
assert [bytes.fromhex(line.decode()) for line in lines.split(b"\n")[:-1]] == expected

# The reference must be one that notices damage, or the comparison would show little.
damaged = bytearray(ours.read_bytes())
damaged[-5] ^= 1
(folder / "damaged.tfrecord").write_bytes(damaged)
try:
    read_by_reference(folder / "damaged.tfrecord")
except errors.DataLossError:
    print(len(expected), "records")
else:
    raise AssertionError("the reference has not noticed damage")
