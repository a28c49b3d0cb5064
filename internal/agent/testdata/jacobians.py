"""Jacobians by all of torch's ways, of a function of three numbers that gives ten."""

import torch
from torch.autograd.functional import jacobian

weights = torch.arange(30.0).reshape(3, 10)


def bend(x):
    return torch.sin(x @ weights)


def refuse(x):
    raise ValueError("no")


x = torch.ones(3)
print(jacobian(bend, x).sum())
print(jacobian(bend, x, vectorize=True).sum())
print(jacobian(lambda x: (x**2).sum() * x, x, create_graph=True).sum())
try:
    jacobian(refuse, x)
except ValueError as error:
    print(error)
func = getattr(torch, "func", None)
if func is not None:
    print(func.jacrev(bend)(x).sum())
    print(func.vmap(func.jacrev(bend))(torch.ones(4, 3)).sum())
    print(func.jacfwd(bend)(x).sum())
    print(func.hessian(lambda x: bend(x).sum())(x).sum())
    try:
        func.jacrev(refuse)(x)
    except ValueError as error:
        print(error)
