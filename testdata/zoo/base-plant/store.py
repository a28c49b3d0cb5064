"""Keeps states of the training, to go on from."""

import os

import torch


class Store:
    """Keeps the state at the end of each epoch."""

    def __init__(self, folder):
        self.folder = folder

    def after_step(self, step, network, optimizer):
        """Is called after every step."""

    def after_epoch(self, epoch, network, optimizer):
        path = os.path.join(self.folder, f"epoch-{epoch}.pt")
        torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)
