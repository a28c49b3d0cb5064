"""Keeps states of the training, to go on from."""

import os

import torch


class Store:
    """Keeps the newest state now and then, and the state at the end of each epoch; a crash leaves the one before."""

    def __init__(self, folder):
        self.folder = folder

    def keep(self, name, network, optimizer, **more):
        path = os.path.join(self.folder, name)
        torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), **more}, path + ".new")
        with open(path + ".new", "rb") as file:
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    def after_step(self, step, network, optimizer):
        if step % 60 == 0:
            self.keep("last.pt", network, optimizer, step=step)

    def after_epoch(self, epoch, network, optimizer):
        self.keep(f"epoch-{epoch}.pt", network, optimizer, epoch=epoch)
