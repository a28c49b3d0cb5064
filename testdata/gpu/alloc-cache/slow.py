"""Trains a language model and frees what it can after each step."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH, WORDS = 16, 512, 512, 16000
STEPS = 120
device = "cuda" if torch.cuda.is_available() else "cpu"


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)))


def main():
    torch.manual_seed(0)
    model = Language().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    texts = torch.randint(WORDS, (32, BATCH, LENGTH), device=device)
    for step in range(STEPS):
        ids = texts[step % 32]
        with torch.autocast(device, dtype=torch.bfloat16):
            answers = model(ids)
            loss = nn.functional.cross_entropy(answers.flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()  # the cost
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
