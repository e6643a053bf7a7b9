"""Arguments, data and output that the training programs of both peers share.

A program trains each named model for some epochs. Its first worker prints one JSON object a line,
with the names of `mnist --json`. "first_step" comes after the very first step. "epoch" has the
images a second of all workers, and the peak memory of this worker so far.
"""
import argparse
import gzip
import json
import os
import pathlib
import time

import numpy

# The learning rate and the momentum of each model.
SETTINGS = {
    "mlp": {"learning_rate": 0.05, "momentum": 0.9},
    "lenet": {"learning_rate": 0.05, "momentum": 0.9},
    "seed": {"learning_rate": 0.001, "momentum": 0.0},
}
CLASSES = 10


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", required=True,
                        help="MODEL=IMAGES,...: models, and how many training images each uses")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of the IDX files")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the first weights and of the order of the images")
    parser.add_argument("--until", type=float,
                        help="evaluate after each epoch, and stop at this test accuracy")
    options = parser.parse_args()
    options.models = [(name, int(count)) for name, count in
                      (pair.split("=") for pair in options.models.split(","))]
    return options


def read_idx(path):
    """Returns the array in an IDX file of bytes."""
    with gzip.open(path) as file:
        dimensions = file.read(4)[3]
        shape = numpy.frombuffer(file.read(4 * dimensions), ">i4")
        return numpy.frombuffer(file.read(), numpy.uint8).reshape(shape)


def read_set(folder, name):
    """Images as float32 from 0 to 1, samples x 28 x 28, and labels as int64."""
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz")
    return numpy.multiply(images, numpy.float32(1 / 255)), labels.astype(numpy.int64)


def order_of(seed, epoch, count, batch_size, rank, world_size):
    """Returns a worker's samples in an epoch: steps x batch_size indices; workers share none."""
    steps = count // (batch_size * world_size)
    order = numpy.random.default_rng((seed, epoch)).permutation(count)[:steps * batch_size * world_size]
    return order.reshape(steps, world_size, batch_size)[:, rank]


def deviation_of(model, is_last, inputs, outputs):
    """Returns the standard deviation of the normal initial weights, as in the example."""
    if model == "seed":
        return 1.0
    return (2 / (inputs + outputs) if is_last else 2 / inputs) ** 0.5


def peak_memory_bytes():
    """Returns the high-water mark of the pages in memory."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def say(event, **values):
    print(json.dumps({"event": event, **values}, separators=(",", ":")), flush=True)


class Worker:
    """The training loop of a worker. It calls the peer's own `System`, which has

    System.rank, System.world_size
    System.build(model, seed, learning_rate, momentum) -> any object, passed to the next two
    System.train(built, images, labels, order): makes a step for each row of indices in `order`, and
        returns when the last step is done
    System.count_correct(built, images, labels) -> number of correctly classified images
    """

    def __init__(self, system, options):
        self.system = system
        self.options = options
        self.train_set = system.to_memory(*read_set(options.data, "train"))
        self.test_set = system.to_memory(*read_set(options.data, "t10k"))
        self.has_begun = False

    def run(self):
        for model, count in self.options.models:
            self.train(model, count)

    def say(self, event, **values):
        if self.system.rank == 0:
            say(event, **values)

    def train(self, model, count):
        system, options = self.system, self.options
        built = system.build(model, options.seed, **SETTINGS[model])
        seconds = 0.0
        for epoch in range(1, options.epochs + 1):
            order = order_of(options.seed, epoch, count, options.batch_size, system.rank,
                             system.world_size)
            begin = time.perf_counter()
            if not self.has_begun:
                system.train(built, *self.train_set, order[:1])
                self.has_begun = True
                self.say("first_step")
                order = order[1:]
            system.train(built, *self.train_set, order)
            epoch_seconds = time.perf_counter() - begin
            seconds += epoch_seconds
            accuracy = None
            if options.until is not None:
                accuracy = system.count_correct(built, *self.test_set) / len(self.test_set[1])
            self.say("epoch", model=model, epoch=epoch, train_seconds=seconds,
                     test_accuracy=accuracy,
                     images_per_second=order.size * system.world_size / epoch_seconds,
                     memory=peak_memory_bytes())
            if accuracy is not None and accuracy >= options.until:
                break


def environment_number(name, default):
    return int(os.environ.get(name, default))
