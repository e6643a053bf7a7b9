"""Trains the example's mlp with PyTorch in several ways, as `rota-bench pace` does.

summaries: without summaries, and with a SummaryWriter that gets the loss and the accuracy of each
step. records: from tensors in memory, and from a file through a DataLoader with one worker process.
Prints the images/s of each way in each round, one JSON object a line, and the seconds of a call.
"""
import argparse
import json
import pathlib
import sys
import time

import numpy
import torch
import torch.utils.data
from torch import nn

# TensorBoard would load TensorFlow if it is installed, and a process that also has PyTorch's
# compiler then aborts: both register the same options of LLVM. It does not need TensorFlow here.
sys.modules["tensorflow"] = None
from torch.utils.tensorboard import SummaryWriter  # pylint: disable=wrong-import-position

import training_common as common  # pylint: disable=wrong-import-position
import training_pytorch as pytorch  # pylint: disable=wrong-import-position

BATCH = 100
WARM_UP_STEPS = 50
WINDOW_STEPS = 200
CALLS_IN_A_ROW = 4000


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("summaries", "records"))
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of the IDX files")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="an empty folder")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def say(what, value):
    print(json.dumps({"what": what, "value": value}), flush=True)


def train(system, batches, after_step=None):
    """Returns the images a second in the window. `after_step` gets the step, the loss and the
    number of correct images."""
    _, network, optimizer = system.build("mlp", 1, **common.SETTINGS["mlp"])
    for step, (images, labels) in enumerate(batches, 1):
        logits = network(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if after_step is not None:
            after_step(step, loss, (logits.argmax(1) == labels).sum())
        if step == WARM_UP_STEPS:
            begin = time.perf_counter()
        if step == WARM_UP_STEPS + WINDOW_STEPS:
            return WINDOW_STEPS * BATCH / (time.perf_counter() - begin)
    raise RuntimeError("the training run ended before its window")


def order():
    return numpy.random.default_rng(1).permutation(60_000).reshape(-1, BATCH)


def batches_in_memory(images, labels):
    for places in torch.from_numpy(order()):
        yield images[places], labels[places]


class TwoCurves:
    """Writes two curves, and times the calls in the window. The numbers are made in every way of
    training, so only the calls differ."""

    def __init__(self, folder=None):
        self.writer = SummaryWriter(folder) if folder is not None else None
        self.seconds = 0.0

    def __call__(self, step, loss, correct):
        loss, accuracy = float(loss.detach()), float(correct) / BATCH
        if self.writer is None:
            return
        begin = time.perf_counter()
        self.writer.add_scalar("train/cost", loss, step)
        self.writer.add_scalar("train/accuracy", accuracy, step)
        if step > WARM_UP_STEPS:
            self.seconds += time.perf_counter() - begin

    def seconds_of_a_call(self):
        self.writer.close()
        return self.seconds / (2 * WINDOW_STEPS)


def seconds_of_a_call_in_a_row(folder):
    with SummaryWriter(folder) as writer:
        begin = time.perf_counter()
        for step in range(CALLS_IN_A_ROW):
            writer.add_scalar("train/cost", 0.5, step)
        return (time.perf_counter() - begin) / CALLS_IN_A_ROW


def compare_summaries(system, options, images, labels):
    for round_ in range(options.rounds):
        def plain():
            say("plain", train(system, batches_in_memory(images, labels), TwoCurves()))

        def writer():
            curves = TwoCurves(options.folder / f"curves-{round_}")
            say("writer", train(system, batches_in_memory(images, labels), curves))
            say("scalar", curves.seconds_of_a_call())

        in_turn(round_, plain, writer)
        say("scalar-in-a-row", seconds_of_a_call_in_a_row(options.folder / f"row-{round_}"))


def in_turn(round_, one, other):
    """So no effect of the order always hits the same way."""
    for way in (one, other) if round_ % 2 == 0 else (other, one):
        way()


class Records(torch.utils.data.Dataset):
    """Records of one label and 784 pixels, in a file that is mapped into memory."""

    def __init__(self, path):
        self.records = numpy.memmap(path, numpy.uint8, "r").reshape(-1, 785)

    def __len__(self):
        return len(self.records)

    def __getitems__(self, places):
        """A DataLoader asks for a whole batch, which is faster than image by image."""
        records = torch.from_numpy(self.records[places])
        return records[:, 1:].to(torch.float32).div_(255), records[:, 0].to(torch.int64)


def write_records(images, labels, path):
    pixels = (images.reshape(-1, 784) * 255).round().to(torch.uint8)
    torch.cat((labels.to(torch.uint8).unsqueeze(1), pixels), 1).numpy().tofile(path)


def compare_records(system, options, images, labels):
    path = options.folder / "records"
    write_records(images, labels, path)

    def memory():
        say("memory", train(system, batches_in_memory(images, labels)))

    def records():
        loader = torch.utils.data.DataLoader(
            Records(path), batch_sampler=order().tolist(), num_workers=1, prefetch_factor=2,
            collate_fn=lambda batch: batch)
        say("records-prefetched", train(system, loader))

    for round_ in range(options.rounds):
        in_turn(round_, memory, records)


def main():
    options = arguments()
    system = pytorch.PyTorch()  # With one thread.
    images, labels = (torch.from_numpy(array) for array in common.read_set(options.data, "train"))
    compare = compare_summaries if options.what == "summaries" else compare_records
    compare(system, options, images.flatten(1), labels)


if __name__ == "__main__":
    main()
