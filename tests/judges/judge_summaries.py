# Asks TensorBoard over HTTP what it shows of the summaries that the program has written, once with
# each of its two loaders. Also reads the files with its library.
# Usage: judge_summaries.py PROGRAM FOLDER
import collections
import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import urllib.parse
import zlib

from tensorboard.backend.event_processing import event_accumulator, event_file_loader

import server

FOLDER = pathlib.Path(sys.argv[2])


def expected_loss():
    """One curve of three parts: each part ends where the next one begins."""
    curve = {}
    for part, first, last in ((1, 1, 60), (2, 61, 75), (3, 76, 120)):
        curve.update({step: part * 1000 + step for step in range(first, last + 1)})
    curve.update({30: "NaN", 40: "-Infinity"})
    return curve


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def is_read(board):
    """Whether both runs are there with their last summaries."""
    runs = board.ask_json("scalars/tags")
    if "accuracy/test" not in runs.get("second", {}) or "loss/train" not in runs.get("first", {}):
        return False
    curve = board.scalars("first", "accuracy/test")
    return bool(curve) and curve[-1][0] == 120


def judge_scalars(board):
    tags = {run: sorted(tags) for run, tags in board.ask_json("scalars/tags").items()}
    assert tags == {"first": ["accuracy/test", "loss/train", "weights/not_finite"],
                    "second": ["accuracy/test"]}, tags
    loss = board.scalars("first", "loss/train")
    assert loss == list(expected_loss().items()), loss
    accuracy = board.scalars("first", "accuracy/test")
    assert accuracy == [(step, single(step / 200)) for step in range(10, 121, 10)], accuracy
    assert board.scalars("first", "weights/not_finite") == [(30, 1)]


def judge_histograms(board):
    histograms = board.ask_json("histograms/histograms", run="first", tag="weights")
    assert [each[1] for each in histograms] == list(range(10, 121, 10)), histograms
    for _, step, buckets in histograms:
        count = sum(bucket[2] for bucket in buckets)
        assert count == (299 if step == 30 else 300), (step, count)
        assert buckets[0][0] == step and buckets[-1][1] == step + 29, (step, buckets)


def rows_of_png(png, width, channels):
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", png[16:20])[0] == width
    length = struct.unpack(">I", png[33:37])[0]
    data = zlib.decompress(png[41:41 + length])
    return [list(data[at + 1:at + 1 + width * channels])
            for at in range(0, len(data), width * channels + 1)]


def judge_images(board):
    for tag, channels, rows in (
            ("grey", 1, [[0, 50], [100, 150], [200, 255]]),
            ("colours", 3, [[255, 0, 0, 0, 255, 0], [0, 0, 255, 10, 20, 30],
                            [40, 50, 60, 70, 80, 90]])):
        [image] = board.ask_json("images/images", run="first", tag=tag, sample=0)
        assert image["step"] == 1, image
        png = board.ask("images/individualImage",
                        **dict(urllib.parse.parse_qsl(image["query"])))
        assert rows_of_png(png, 2, channels) == rows, (tag, rows_of_png(png, 2, channels))


def judge_rest(board):
    [text] = board.ask_json("text/text", run="first", tag="notes")
    assert text["step"] == 1 and "<strong>first</strong> part" in text["text"], text
    graph = board.ask("graphs/graph", run="first").decode()
    assert re.findall(r'^  name: "(.*)"', graph, re.M) == ["input", "weights", "sum", "output"], graph
    assert re.findall(r'^  op: "(.*)"', graph, re.M) == ["Placeholder", "Const", "Gemm", "Relu"]
    assert re.findall(r'^  input: "(.*)"', graph, re.M) == ["input", "weights", "sum"], graph


def judge_hyperparameters(board):
    request = {"experimentName": "", "allowedStatuses":
               ["STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING", "STATUS_UNKNOWN"],
               "colParams": [{"metric": {"tag": "accuracy/test", "group": ""}}],
               "includeMetrics": True, "startIndex": 0, "sliceSize": 10}
    groups = board.ask_json("hparams/session_groups", json.dumps(request).encode())
    seen = {}
    for group in groups["sessionGroups"]:
        [session] = group["sessions"]
        [metric] = session["metricValues"]
        seen[session["name"]] = (group["hparams"], session["status"], metric["value"],
                                 metric["trainingStep"])
    assert seen == {
        "first": ({"learning rate": 0.5, "batch": 100, "model": "mlp", "warm": True},
                  "STATUS_SUCCESS", single(0.6), 120),
        "second": ({"learning rate": 0.1, "batch": 200, "model": "lenet", "warm": False},
                   "STATUS_FAILURE", 0.75, 1)}, seen


def judge_server(fast):
    board = server.TensorBoard(FOLDER, fast)
    try:
        board.wait_until(is_read)
        judge_scalars(board)
        judge_histograms(board)
        judge_images(board)
        judge_rest(board)
        judge_hyperparameters(board)
    finally:
        board.end()
    print(f"TensorBoard with load_fast={fast} shows everything")


def judge_library():
    """Every file begins with the version and the start. The library sees the same curve."""
    for path in FOLDER.glob("*/*"):
        events = list(event_file_loader.LegacyEventFileLoader(str(path)).Load())
        assert events[0].file_version == "brain.Event:2", path
        assert events[1].session_log.status == 1 and events[1].step == events[2].step, path
        starts = collections.Counter(event.HasField("session_log") for event in events)
        assert starts[True] == 1, path
    accumulator = event_accumulator.EventAccumulator(str(FOLDER / "first"), {"scalars": 0})
    accumulator.Reload()
    curve = {each.step: each.value for each in accumulator.Scalars("loss/train")}
    wanted = {step: float(value) for step, value in expected_loss().items()}
    assert math.isnan(curve.pop(30)) and math.isnan(wanted.pop(30))
    assert curve == wanted, curve


shutil.rmtree(FOLDER, ignore_errors=True)
subprocess.run([sys.argv[1], FOLDER], check=True)
judge_library()
judge_server("true")
judge_server("false")
