"""The same with batches of messages of similar length, each filled up to its own longest one."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MESSAGES = 960
LONGEST = 128
WORDS = 3000
EPOCHS = 2
BATCH = 24


class Messages(Dataset):
    def __init__(self):
        lengths = torch.randint(6, 40, (MESSAGES,))
        lengths[::60] = LONGEST
        self.words = [torch.randint(1, WORDS, (int(n),)) for n in lengths]
        self.topics = torch.randint(0, 8, (MESSAGES,))

    def __len__(self):
        return MESSAGES

    def __getitem__(self, number):
        return self.words[number], self.topics[number]


def batch_of(samples):
    words = torch.zeros(len(samples), max(len(message) for message, _ in samples), dtype=torch.long)
    for row, (message, _) in enumerate(samples):
        words[row, : len(message)] = message
    return words, torch.stack([topic for _, topic in samples])


class ByLength:
    def __init__(self, messages):
        order = sorted(range(MESSAGES), key=lambda number: len(messages[number][0]))
        self.batches = [order[at : at + BATCH] for at in range(0, MESSAGES, BATCH)]

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for number in torch.randperm(len(self.batches)).tolist():
            yield self.batches[number]


class Reader(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 8)

    def forward(self, words):
        empty = words == 0
        read = self.layers(self.embed(words), src_key_padding_mask=empty)
        return self.head(read.masked_fill(empty.unsqueeze(2), 0).sum(1) / (~empty).sum(1, keepdim=True))


def main():
    torch.manual_seed(0)
    reader = Reader()
    optimizer = torch.optim.SGD(reader.parameters(), lr=0.01)
    messages = Messages()
    loader = DataLoader(messages, batch_sampler=ByLength(messages), collate_fn=batch_of)
    for _ in range(EPOCHS):
        for words, topics in loader:
            loss = nn.functional.cross_entropy(reader(words), topics)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
