"""Samples texts from a language model."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

BATCH, PROMPT = 16, 64
STEPS = 220
device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.no_grad()
def sample(model, ids):
    cache = None
    new = ids
    for _ in range(STEPS):
        answer = model(new, past_key_values=cache, use_cache=True)
        logits, cache = answer.logits[:, -1], answer.past_key_values
        new = torch.multinomial(torch.softmax(logits / 0.8, -1), 1)
        ids = torch.cat([ids, new], 1)
    return ids


def main():
    torch.manual_seed(0)
    config = GPT2Config(n_layer=8, n_head=12, n_embd=768, vocab_size=16000, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).to(device).eval()
    for _ in range(2):
        ids = sample(model, torch.randint(16000, (BATCH, PROMPT), device=device))
    print(f"{ids.shape[1]} tokens, mean {ids.float().mean().item():.1f}")


if __name__ == "__main__":
    main()
