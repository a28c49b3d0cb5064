"""Training by an engine with backward and step: engine.py own|deepspeed BATCHES-PER-STEP loader|tensors. Two epochs of 24 batches."""

import os
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


class Engine(torch.nn.Module):
    """Gathers gradients and steps each group of parameters by itself, as ZeRO does."""

    def __init__(self, module, optimizer, batches):
        super().__init__()
        self.module, self.optimizer, self.batches = module, optimizer, batches
        self.micro_steps = self.global_steps = 0

    def forward(self, x):
        return self.module(x)

    def backward(self, loss):
        (loss / self.batches).backward()

    def step(self):
        self.micro_steps += 1
        if self.micro_steps % self.batches:
            return
        groups = self.optimizer.param_groups
        for group in groups:
            self.optimizer.param_groups = [group]
            self.optimizer.step()
        self.optimizer.param_groups = groups
        self.optimizer.zero_grad()
        self.global_steps += 1


def deepspeed_engine(module, optimizer, batches):
    import deepspeed

    deepspeed.ops.__compatible_ops__.clear()  # it would compile one, which takes minutes
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        os.environ.setdefault(name, value)
    settings = {
        "train_micro_batch_size_per_gpu": 2,
        "gradient_accumulation_steps": batches,
        "zero_optimization": {"stage": 1},
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    }
    return deepspeed.initialize(model=module, optimizer=optimizer, config=settings)[0]


module = torch.nn.Linear(16, 2)
optimizer = torch.optim.AdamW([{"params": [module.weight]}, {"params": [module.bias], "weight_decay": 0.0}])
engine = (Engine if sys.argv[1] == "own" else deepspeed_engine)(module, optimizer, int(sys.argv[2]))
data = TensorDataset(torch.ones(48, 16), torch.zeros(48, dtype=torch.long))
for _ in range(2):
    for x, y in DataLoader(data, batch_size=2) if sys.argv[3] == "loader" else zip(*(t.split(2) for t in data.tensors)):
        engine.backward(torch.nn.functional.cross_entropy(engine(x), y))
        engine.step()
print("steps", engine.global_steps)
