"""What scaled_dot_product_attention saves of attention that a program writes out by hand, on a CPU.

The usual forms (with and without a causal mask, with and without dropout, for training and without gradients) and the one call in their
place take turns. Prints for each size what the form takes from queries, keys and values to the result, backward included, and what the call
saves of it: the prices memory-bound/attention are read off it.
"""

import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F

SIZES = [  # batch, heads, places, numbers per head
    (32, 4, 64, 32),
    (64, 8, 32, 16),
    (8, 4, 128, 32),
    (8, 4, 256, 32),
    (4, 8, 256, 64),
    (2, 4, 512, 64),
    (4, 12, 512, 64),
    (1, 8, 1024, 64),
]


def by_hand(q, k, v, mask, dropout):
    weights = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        weights = weights.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(weights, dim=-1)
    if dropout:
        weights = F.dropout(weights, dropout)
    return weights @ v


def by_call(q, k, v, mask, dropout):
    return F.scaled_dot_product_attention(q, k, v, is_causal=mask is not None, dropout_p=dropout)


def by_call_with_mask(q, k, v, mask, dropout):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask != 0, dropout_p=dropout)


def took(form, inputs, mask, dropout, train):
    start = time.perf_counter()
    y = form(*inputs, mask, dropout)
    if train:
        torch.autograd.grad(y, inputs, torch.ones_like(y))
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    print(torch.__version__, torch.get_num_threads(), "threads")
    for batch, heads, places, width in SIZES:
        torch.manual_seed(0)
        causal = torch.tril(torch.ones(places, places)).view(1, 1, places, places)
        for train in (True, False):
            # As heads are taken out of one projection: not contiguous.
            made = torch.randn(batch, places, 3, heads, width).permute(2, 0, 3, 1, 4)
            inputs = [t.detach().requires_grad_(train) for t in made]
            for mask in (None, causal):
                for dropout in (0.0, 0.1) if train else (0.0,):
                    times = {by_hand: [], by_call: [], by_call_with_mask: []}
                    turns = 0
                    end = time.perf_counter() + 1.2
                    while turns < 9 or time.perf_counter() < end and turns < 60:
                        for form in times:
                            t = took(form, inputs, mask, dropout, train)
                            if turns >= 3:
                                times[form].append(t)
                        turns += 1
                    hand, call, masked = (statistics.median(times[form]) for form in times)
                    print(
                        f"{batch:3} x {heads:2} heads, {places:4} places of {width}, {'trains' if train else 'infers'}, "
                        f"{'causal' if mask is not None else 'all   '}, dropout {dropout}: {hand * 1e3:8.2f} ms: "
                        f"saves {1 - call / hand:5.2f}, {1 - masked / hand:5.2f} with a mask",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
