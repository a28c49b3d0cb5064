"""Runs out of a device's memory with its history recorded, and leaves the snapshot: memory.py FILE."""

import sys

import torch


def main():
    torch.cuda.set_per_process_memory_fraction(2**30 / torch.cuda.get_device_properties(0).total_memory)
    torch.cuda.memory._record_memory_history(max_entries=20000)
    kept = []
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
    try:
        for _ in range(1000):
            x = torch.randn(1024, 1024, device="cuda")
            answers = model(x)
            answers.pow(2).mean().backward()
            kept.append(answers)
    except torch.OutOfMemoryError as error:
        print(len(kept), str(error)[:300])
    torch.cuda.memory._dump_snapshot(sys.argv[1])


if __name__ == "__main__":
    main()
