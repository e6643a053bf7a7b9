"""Prints how many images a second PyTorch trains on, with a model of the example on one GPU.

usage: train_pytorch.py mlp|lenet BATCH. The images are random, and are on the GPU before the start.
"""
import sys
import time

import torch
from torch import nn

SECONDS = 5


def layers_of(model):
    if model == "mlp":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(inplace=True), nn.Linear(512, 512),
                             nn.ReLU(inplace=True), nn.Linear(512, 10))
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(inplace=True), nn.Linear(512, 10))


def main(model, batch):
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    network = layers_of(model).cuda()
    optimizer = torch.optim.SGD(network.parameters(), 0.1, 0.9, fused=True)
    images = torch.rand(60000, 784, device="cuda")
    labels = torch.randint(0, 10, (60000,), device="cuda")

    def train_for(seconds):
        steps = 0
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            for _ in range(50):
                places = torch.randint(0, 60000, (batch,), device="cuda")
                loss = nn.functional.cross_entropy(network(images[places]), labels[places])
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            torch.cuda.synchronize()
            steps += 50
        return steps * batch / (time.monotonic() - begin)

    train_for(1)
    print(train_for(SECONDS))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
