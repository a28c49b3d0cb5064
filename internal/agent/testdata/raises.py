"""Raises in its own code that torch calls, at the place that its argument names; its traceback shows torch and itself, nobody else."""

import sys
import traceback

import torch

how = sys.argv[1]


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        if how in ("dataset", "cause", "caught", "worker") and index == 7:
            raise ValueError("bad sample")
        return torch.ones(4)


class Model(torch.nn.Linear):
    calls = 0

    def forward(self, x):
        Model.calls += 1
        if how == "model" and Model.calls == 3:
            raise ValueError("bad shape")
        return super().forward(x)


model = Model(4, 1)
if how == "closure":
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def closure():
        raise ValueError("bad loss")

    optimizer.step(closure)
try:
    for batch in torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=how == "worker"):
        model(batch)
except ValueError as error:
    if how == "cause":
        raise RuntimeError("training failed") from error
    if how == "caught":
        traceback.print_exc()
        sys.exit(3)
    raise
