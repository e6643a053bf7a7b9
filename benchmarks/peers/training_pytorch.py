"""Trains as the example does, with PyTorch. Under torchrun the program is one of several workers
and uses DistributedDataParallel over Gloo. Started alone, it is the only worker, without
communication.
"""
import torch
import torch.distributed
from torch import nn

import training_common as common


class PyTorch:
    def __init__(self):
        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)
        self.rank = common.environment_number("RANK", 0)
        self.world_size = common.environment_number("WORLD_SIZE", 1)
        if self.world_size > 1:
            torch.distributed.init_process_group("gloo")

    def to_memory(self, images, labels):
        return torch.from_numpy(images), torch.from_numpy(labels)

    def build(self, model, seed, learning_rate, momentum):
        torch.manual_seed(seed)
        network = layers_of(model)
        initialize(model, network)
        if model == "lenet":
            network = network.to(memory_format=torch.channels_last)
        if self.world_size > 1:
            network = nn.parallel.DistributedDataParallel(
                network, gradient_as_bucket_view=True, static_graph=True)
        optimizer = torch.optim.SGD(network.parameters(), learning_rate, momentum, fused=True)
        return model, network, optimizer

    def train(self, built, images, labels, order):
        model, network, optimizer = built
        for places in torch.from_numpy(order):
            loss = nn.functional.cross_entropy(
                network(inputs_of(model, images[places])), labels[places])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    def count_correct(self, built, images, labels):
        model, network, _ = built
        # Every worker has the same weights, so each can evaluate all images.
        network = getattr(network, "module", network)
        correct = 0
        with torch.inference_mode():
            for some, their_labels in zip(images.split(1000), labels.split(1000)):
                guesses = network(inputs_of(model, some)).argmax(1)
                correct += int((guesses == their_labels).sum())
        return correct


def inputs_of(model, images):
    return images.unsqueeze(1) if model == "lenet" else images.flatten(1)


def layers_of(model):
    if model == "seed":
        return nn.Sequential(nn.Linear(784, 100), nn.Sigmoid(), nn.Linear(100, common.CLASSES))
    if model == "mlp":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(inplace=True), nn.Linear(512, 512),
                             nn.ReLU(inplace=True), nn.Linear(512, common.CLASSES))
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(inplace=True),
        nn.Linear(512, common.CLASSES))


def initialize(model, network):
    with_weights = [layer for layer in network if hasattr(layer, "weight")]
    for layer in with_weights:
        outputs, inputs = layer.weight.shape[0], layer.weight[0].numel()
        deviation = common.deviation_of(model, layer is with_weights[-1], inputs, outputs)
        nn.init.normal_(layer.weight, std=deviation)
        nn.init.normal_(layer.bias, std=1) if model == "seed" else nn.init.zeros_(layer.bias)


if __name__ == "__main__":
    common.Worker(PyTorch(), common.arguments()).run()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
