"""What a recurrent layer saves of a loop that calls its cell for each element of a sequence, on as many threads as are given (1).

Loop and layer take turns, forward and backward, with the same weights. Prints for each size what the loop takes and what the layer saves
of it: the price launch/cells is read off it.
"""

import statistics
import sys
import time

import torch
from torch import nn

KINDS = [(nn.LSTMCell, nn.LSTM), (nn.GRUCell, nn.GRU), (nn.RNNCell, nn.RNN)]
SIZES = [(32, 20, 4), (64, 50, 16), (128, 50, 16), (128, 100, 64), (256, 24, 1), (256, 50, 32), (512, 30, 16)]  # units, elements, sequences
ROUNDS = 7


def looped(cell, inputs):
    state = torch.zeros(inputs.shape[1], cell.hidden_size)
    state = (state, state) if isinstance(cell, nn.LSTMCell) else state
    out = []
    for element in inputs:
        state = cell(element, state)
        out.append(state[0] if isinstance(state, tuple) else state)
    return torch.stack(out)


def whole_sequence(layer, inputs):
    return layer(inputs)[0]


def took(answer, module, inputs):
    start = time.perf_counter()
    answer(module, inputs).sum().backward()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    saved = []
    print("cell        units elements sequences    loop ms   saved")
    for one, whole in KINDS:
        for units, elements, sequences in SIZES:
            cell, layer = one(units, units), whole(units, units)
            inputs = torch.randn(elements, sequences, units)
            times = [[], []]
            for n in range(ROUNDS + 1):
                for side, (answer, module) in enumerate(((looped, cell), (whole_sequence, layer))):
                    t = took(answer, module, inputs)
                    if n:
                        times[side].append(t)
            loop, layered = (statistics.median(side) for side in times)
            saved.append(1 - layered / loop)
            print("%-10s %6d %8d %9d %10.2f %7.0f %%" % (one.__name__, units, elements, sequences, 1e3 * loop, 100 * saved[-1]))
    print("saved: %.2f to %.2f, median %.2f, %d points" % (min(saved), max(saved), statistics.median(saved), len(saved)))


main()
