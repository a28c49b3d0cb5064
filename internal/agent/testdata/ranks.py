"""Two ranks that reduce their gradients; each prints what it computed into a file of its own."""

import sys

import torch
import torch.distributed as distributed

distributed.init_process_group("gloo")
rank = distributed.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(30):
    model(torch.full((2, 4), float(rank))).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
with open("%s/rank-%d" % (sys.argv[1], rank), "w") as file:
    file.write("%d of %d" % (rank, distributed.get_world_size()))
distributed.barrier()
distributed.destroy_process_group()
