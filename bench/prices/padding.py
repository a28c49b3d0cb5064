"""What trainings on sequences of several lengths save without filling, on one thread.

Each model trains on the same sequences filled up to the longest of all, to the longest of each batch, and in batches sorted by length.
Prints the share of filling, what each batch's own longest cuts off, and what the two other forms save of these: the price padding is read
off it.
"""

import statistics
import time

import torch
from torch import nn

WORDS, SEQUENCES, BATCHES = 3000, 960, 30
CASES = [
    ("Transformer", 96, 128, "short", 24),
    ("Transformer", 64, 64, "even", 32),
    ("Transformer", 256, 256, "even", 8),
    ("Transformer", 128, 256, "short", 8),
    ("Transformer", 768, 32, "even", 6),
    ("Transformer", 768, 48, "short", 6),
    ("Transformer", 512, 32, "even", 16),
    ("GRU", 128, 96, "short", 32),
    ("convolutions", 128, 200, "even", 16),
]


def sequences(longest, kind):
    """Mostly short with a few of the full length, or of all lengths alike."""
    if kind == "short":
        lengths = torch.randint(4, longest // 4, (SEQUENCES,))
        lengths[::40] = longest
    else:
        lengths = torch.randint(longest // 5, longest + 1, (SEQUENCES,))
    return [torch.randint(1, WORDS, (int(n),)) for n in lengths]


class Classifier(nn.Module):
    def __init__(self, kind, width):
        super().__init__()
        self.kind, self.embed, self.head = kind, nn.Embedding(WORDS, width, padding_idx=0), nn.Linear(width, 8)
        if kind == "Transformer":
            layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
            self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        elif kind == "GRU":
            self.body = nn.GRU(width, width, batch_first=True)
        else:
            self.body = nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.Conv1d(width, width, 5, padding=2))

    def forward(self, words):
        empty, x = words == 0, self.embed(words)
        if self.kind == "Transformer":
            x = self.body(x, src_key_padding_mask=empty)
        elif self.kind == "GRU":
            x = self.body(x)[0]
        else:
            x = self.body(x.transpose(1, 2)).transpose(1, 2)
        return self.head(x.masked_fill(empty.unsqueeze(2), 0).sum(1))


def batch_of(texts, width):
    words = torch.zeros(len(texts), width, dtype=torch.long)
    for row, text in enumerate(texts):
        words[row, : len(text)] = text
    return words


def step_time(kind, width, batches):
    """Mean CPU seconds of a step."""
    torch.manual_seed(0)
    model = Classifier(kind, width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    times = []
    for words in batches:
        start = time.thread_time()
        loss = nn.functional.cross_entropy(model(words), torch.zeros(len(words), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(time.thread_time() - start)
    return statistics.fmean(times[2:])


def main():
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # targets are all alike, so that losses and with them gradients go to nothing
    for kind, width, longest, lengths, size in CASES:
        torch.manual_seed(1)
        texts = sequences(longest, lengths)
        by_length = sorted(texts, key=len)
        groups = [texts[at : at + size] for at in range(0, SEQUENCES, size)]
        alike = [by_length[at : at + size] for at in range(0, SEQUENCES, size)]
        every = max(1, len(groups) // BATCHES)
        forms = {
            "all": [batch_of(g, longest) for g in groups[::every]],
            "own": [batch_of(g, max(map(len, g))) for g in groups[::every]],
            "sorted": [batch_of(g, max(map(len, g))) for g in alike[::every]],
        }
        took = {form: step_time(kind, width, batches) for form, batches in forms.items()}
        places = {form: sum(b.numel() for b in batches) for form, batches in forms.items()}
        filling = sum(int((b == 0).sum()) for b in forms["all"]) / places["all"]
        cut = 1 - places["own"] / places["all"]
        print(
            f"{kind:12} {width:3} wide, {longest:3} places, {lengths:5}: filling {filling:.2f}, own longest cuts off {cut:.2f}; "
            f"sorted saves {(1 - took['sorted'] / took['all']) / filling:5.2f} of the filling, "
            f"own longest {(1 - took['own'] / took['all']) / cut:5.2f} of what it cuts off"
        )


if __name__ == "__main__":
    main()
