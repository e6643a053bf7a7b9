# Trains with mnist, kills the job twice, and resumes it each time. TensorBoard must show the curves
# of a run that nobody touched, with each of its two loaders. An evaluator has scored the last
# checkpoint when another one scores the older ones: TensorBoard must show one curve.
# Usage: judge_curves.py ROTARUN MNIST DATA FOLDER
import gzip
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys

import server

ROTARUN, MNIST = sys.argv[1:3]
DATA, FOLDER = map(pathlib.Path, sys.argv[3:5])
KILLS = (200, 500)  # The step of a checkpoint after which the job is killed.
STEPS = 1500
EPOCH = 75


def write_few_images():
    """The first images of DATA: an epoch has 75 steps of two ranks."""
    few = FOLDER / "data"
    few.mkdir(parents=True)
    for part, count in (("train", 3000), ("t10k", 500)):
        for kind, head, size in (("images-idx3", 16, 28 * 28), ("labels-idx1", 8, 1)):
            name = f"{part}-{kind}-ubyte"
            everything = gzip.decompress((DATA / f"{name}.gz").read_bytes())
            (few / name).write_bytes(everything[:4] + struct.pack(">I", count) +
                                     everything[8:head + count * size])
    return few


def mnist(few, name, *more):
    return [MNIST, "--data", few, "--json", "--model", "seed", "--batch-size", "20", "--logdir",
            FOLDER / "logs" / name, *more]


def command(few, name, *more):
    return [ROTARUN, "-np", "2", *mnist(few, name, "--epochs", str(STEPS // EPOCH), *more)]


def run_and_kill(arguments, step):
    """Returns whether the job went on from a checkpoint."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    was_restored = False
    for line in process.stdout:
        event = json.loads(line)
        was_restored |= event["event"] == "restored"
        assert event["event"] != "done", "the job was too quick to be killed"
        if event["event"] == "checkpoint" and event["step"] >= step:
            process.kill()
            break
    process.communicate()
    return was_restored


def train(few):
    subprocess.run(command(few, "whole"), check=True, stdout=subprocess.DEVNULL)
    job = command(few, "killed", "--checkpoint-dir", FOLDER / "run", "--checkpoint-every", "7")
    assert not run_and_kill(job, KILLS[0])
    assert run_and_kill(job, KILLS[1])
    out = subprocess.run(job, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert '"restored"' in out and '"done"' in out, out


def evaluations():
    return (FOLDER / "run" / "evaluations.jsonl").read_text().splitlines(keepends=True)


def evaluate(few):
    """A second evaluator scores the older checkpoints, as it does after SIGTERM and a restart."""
    job = mnist(few, "killed", "--checkpoint-dir", FOLDER / "run", "--evaluate")
    subprocess.run(job, check=True, stdout=subprocess.DEVNULL)
    lines = evaluations()
    assert len(lines) > 2 and json.loads(lines[-1])["step"] == STEPS, lines
    (FOLDER / "run" / "evaluations.jsonl").write_text(lines[-1])
    subprocess.run(job, check=True, stdout=subprocess.DEVNULL)
    again = evaluations()
    steps = [json.loads(line)["step"] for line in again]
    assert steps == [json.loads(line)["step"] for line in lines[-1:] + lines[:-1]], (lines, again)


def is_read(board):
    tags = board.ask_json("scalars/tags")
    return "cost" in tags.get("killed/evaluator", {}) and all(
        "cost" in tags.get(f"{run}/{part}", {}) and
        board.scalars(f"{run}/{part}", "cost")[-1:][0][0] == STEPS
        for run in ("whole", "killed") for part in ("train", "test"))


def judge_evaluator(board):
    means = {each["step"]: each["means"] for each in map(json.loads, evaluations())}
    for tag in ("cost", "accuracy"):
        curve = board.scalars("killed/evaluator", tag)
        assert [step for step, _ in curve] == sorted(means), (tag, curve)
        for step, value in curve:
            assert math.isclose(value, means[step][tag], rel_tol=1e-6), (tag, step, value)


def judge(fast):
    board = server.TensorBoard(FOLDER / "logs", fast)
    try:
        board.wait_until(is_read)
        every = {"train": list(range(10, STEPS + 1, 10)),
                 "test": list(range(EPOCH, STEPS + 1, EPOCH))}
        for part, steps in every.items():
            for tag in ("cost", "accuracy"):
                whole = board.scalars(f"whole/{part}", tag)
                killed = board.scalars(f"killed/{part}", tag)
                assert [step for step, _ in whole] == steps, (part, tag, whole)
                assert whole == killed, (part, tag, whole, killed)
        for tag in ("learning_rate", "global_step/sec", "images/sec"):
            curve = board.scalars("killed/train", tag)
            assert [step for step, _ in curve] == every["train"], (tag, curve)
            assert all(value > 0 for _, value in curve), (tag, curve)
        for what in ("compute", "wait", "checkpoint"):
            curve = board.scalars("whole/train", f"{what}_seconds/rank_0")
            assert [step for step, _ in curve] == every["train"], (what, curve)
        seconds = board.scalars("killed/train", "checkpoint/seconds")
        steps = [step for step, _ in seconds]
        assert len(steps) > 10 and steps == sorted(set(steps)), steps
        judge_evaluator(board)
        norms = [step for step, _ in board.scalars("killed/train", "gradient_norm")]
        assert norms == list(range(100, STEPS + 1, 100)), norms
        graph = board.ask("graphs/graph", run="killed/train").decode()
        assert 'name: "logits"' in graph, graph
        histograms = board.ask_json("histograms/tags")["killed/train"]
        assert any(tag.startswith("parameters/") for tag in histograms), histograms
    finally:
        board.end()
    print(f"TensorBoard with load_fast={fast} shows one curve")


shutil.rmtree(FOLDER, ignore_errors=True)
few_images = write_few_images()
train(few_images)
evaluate(few_images)
judge("true")
judge("false")
