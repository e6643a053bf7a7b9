"""Times the saving and loading of a state with PyTorch, by one rank whose steps only wait.

Prints the median of each time in seconds, one JSON object a line, as `rota-bench checkpoint` does.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import time
import warnings

import torch
import torch.distributed
import torch.distributed.checkpoint as dcp

# The numbers of elements of the parameters, as in benchmarks/checkpoint/state.cpp. Each parameter
# has a momentum of the same size.
STATES = {
    "mlp": [784 * 512, 512, 512 * 512, 512, 512 * 10, 10],
    "large": [2 << 20] * 16,
}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", choices=STATES, default="mlp")
    parser.add_argument("--step", type=float, default=3, help="milliseconds of a step")
    parser.add_argument("--saves", type=int, default=3, help="saves of each kind")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."))
    return parser.parse_args()


def make_state(name):
    tensors = [torch.arange(count, dtype=torch.float32) for count in STATES[name]]
    return {f"{kind}.{index}": tensor.clone()
            for kind in ("model", "momentum") for index, tensor in enumerate(tensors)}


def sync_folder(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def save_one_file(state, folder):
    """Writes a file that survives a loss of power, and replaces the one before."""
    hidden = folder / ".state.pt"
    with open(hidden, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(hidden, folder / "state.pt")
    sync_folder(folder)


def seconds_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class DistributedCheckpoints:
    """Each save has a new folder. Old folders are removed when no time is measured."""

    def __init__(self, state, folder):
        self.state = state
        self.folder = folder
        self.count = 0

    def path(self):
        return self.folder / f"dcp-{self.count}"

    def next_path(self):
        shutil.rmtree(self.path(), ignore_errors=True)
        self.count += 1
        return self.path()

    def save(self):
        path = self.next_path()
        return seconds_of(lambda: dcp.save(self.state, checkpoint_id=path))

    def stall(self, step_seconds):
        """Saves beside a step, and returns for how long training stands still."""
        path = self.next_path()
        begin = time.perf_counter()
        future = dcp.async_save(self.state, checkpoint_id=path)
        seconds = time.perf_counter() - begin
        time.sleep(step_seconds)
        future.result()
        return seconds

    def load(self):
        path = self.path()
        return seconds_of(lambda: dcp.load(self.state, checkpoint_id=path))


def main():
    options = arguments()
    warnings.simplefilter("ignore")
    torch.distributed.init_process_group("gloo", init_method=f"file://{options.folder}/.group",
                                         rank=0, world_size=1)
    state = make_state(options.state)
    checkpoints = DistributedCheckpoints(state, options.folder)
    path = options.folder / "state.pt"
    times = {}
    for round_ in range(options.saves + 1):
        if round_ == 1:  # The first round warms up.
            times.clear()
        for what, seconds in [
                ("torch.save", seconds_of(lambda: save_one_file(state, options.folder))),
                ("dcp.save", checkpoints.save()),
                ("dcp.async_save", checkpoints.stall(options.step / 1000)),
                ("torch.load", seconds_of(lambda: torch.load(path))),
                ("dcp.load", checkpoints.load())]:
            times.setdefault(what, []).append(seconds)
    for what, samples in times.items():
        print(json.dumps({"what": what, "value": statistics.median(samples)}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
