"""Two ranks that the program starts itself and that end their group before they end; a child of the first belongs to no rank.

The second argument is how they start (spawn, fork), the third how they learn their rank: by arguments, or by variables that they set.
"""

import os
import subprocess
import sys

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing


def child():
    """A forked child, which inherits its parent's memory and with it the group."""
    sum(range(1000))


def train(rank, world, folder, told):
    if told == "variables":
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    store = distributed.FileStore(os.path.join(folder, "store"), world)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=world)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        model(torch.full((2, 4), float(rank))).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    if rank == 0:
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        multiprocessing.start_processes(lambda _: child(), nprocs=1, start_method="fork")
    distributed.barrier()
    distributed.destroy_process_group()
    if told == "killed":
        os.kill(os.getpid(), 9)


if __name__ == "__main__":
    folder, method, told = sys.argv[1:]
    ranks = [multiprocessing.get_context(method).Process(target=train, args=(rank, 2, folder, told)) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
