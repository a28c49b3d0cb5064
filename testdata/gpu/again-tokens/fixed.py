"""Offline batch generation with a small Llama-style model: top-k sampling over queued prompts."""
import time
from collections import deque

import torch
from transformers import LlamaConfig, LlamaForCausalLM

NUM_REQUEST_BATCHES = 4
BATCH_SIZE = 64
PROMPT_LEN = 512
NEW_TOKENS = 32
VOCAB = 32_000
HIDDEN = 1024
LAYERS = 16
TOP_K = 50
TEMPERATURE = 0.8

device = "cuda" if torch.cuda.is_available() else "cpu"


def load_model():
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=HIDDEN,
        intermediate_size=HIDDEN * 4,
        num_hidden_layers=LAYERS,
        num_attention_heads=HIDDEN // 64,
        num_key_value_heads=max(1, HIDDEN // 256),
        max_position_embeddings=PROMPT_LEN + NEW_TOKENS,
    )
    with torch.device(device):
        model = LlamaForCausalLM(config)
    return model.to(torch.bfloat16).eval()


class Generator:
    def __init__(self, model):
        self.model = model
        self.queue = deque()
        self.finished = []

    def submit(self, prompts):
        self.queue.append(prompts)

    def sample(self, logits):
        logits = logits.float() / TEMPERATURE
        values, indices = torch.topk(logits, TOP_K, dim=-1)
        choice = torch.multinomial(torch.softmax(values, dim=-1), 1)
        return indices.gather(-1, choice)

    @torch.inference_mode()
    def generate(self, prompts):
        step_input = prompts.to(device)
        past = None
        generated = []
        for _ in range(NEW_TOKENS):
            out = self.model(input_ids=step_input, past_key_values=past, use_cache=True, logits_to_keep=1)
            past = out.past_key_values
            step_input = self.sample(out.logits[:, -1])
            generated.append(step_input)
        return torch.cat(generated, dim=1).cpu()

    def run(self):
        while self.queue:
            prompts = self.queue.popleft()
            started = time.perf_counter()
            completions = self.generate(prompts)
            took = time.perf_counter() - started
            self.finished.extend(completions.tolist())
            print(f"{completions.numel()} tokens in {took:.2f}s ({completions.numel() / took:.0f} tok/s)")


def main():
    torch.manual_seed(0)
    service = Generator(load_model())
    rng = torch.Generator().manual_seed(123)
    for _ in range(NUM_REQUEST_BATCHES):
        service.submit(torch.randint(3, VOCAB, (BATCH_SIZE, PROMPT_LEN), generator=rng))
    service.run()
    print(f"{len(service.finished)} completions")


if __name__ == "__main__":
    main()
