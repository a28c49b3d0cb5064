"""Dense retrieval: encode batches of user queries and look up the nearest passages in an in-memory index."""
import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS = 700
QUERY_BATCH = 64
QUERY_LEN = 32
VOCAB = 30522
DIM = 768
LAYERS = 12
HEADS = 12
NUM_PASSAGES = 2_000_000
TOP_K = 10
LOG_EVERY = 100


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, attn_mask):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
        x = x + self.out(y.transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norm2(x))


class QueryEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(QUERY_LEN, DIM)
        self.blocks = nn.ModuleList(Block(DIM, HEADS) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)

    def forward(self, ids, mask):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        attn_mask = mask[:, None, None, :]
        for block in self.blocks:
            x = block(x, attn_mask)
        x = self.norm(x)
        weights = mask.unsqueeze(-1).to(x.dtype)
        return ((x * weights).sum(1) / weights.sum(1)).float()


def cos_sim(a, b):
    """Cosine similarity of every row of a with every row of b, whose rows have unit length already."""
    a = F.normalize(a, dim=1)
    return a @ b.T


class Retriever:
    def __init__(self, encoder, passages, device):
        self.encoder = encoder
        self.device = device
        self.passages = F.normalize(passages, dim=1)

    @torch.inference_mode()
    def encode(self, ids, mask):
        ids = ids.to(self.device, non_blocking=True)
        mask = mask.to(self.device, non_blocking=True)
        return self.encoder(ids, mask)

    @torch.inference_mode()
    def search(self, ids, mask, k):
        queries = self.encode(ids, mask)
        scores = cos_sim(queries, self.passages)
        best, index = scores.topk(k, dim=1)
        return best.cpu(), index.cpu()


def load_passages(n, dim, device, chunk=250_000):
    """Stand-in for reading the stored passage vectors (un-normalised, as the trainer wrote them)."""
    gen = torch.Generator(device=device).manual_seed(7)
    out = torch.empty(n, dim, device=device)
    for lo in range(0, n, chunk):
        part = out[lo:lo + chunk]
        part.normal_(generator=gen)
        part.mul_(torch.empty(part.shape[0], 1, device=device).uniform_(0.5, 2.0, generator=gen))
    return out


def make_requests(n, gen):
    """Token ids and masks of n batches of queries of 6 to QUERY_LEN tokens."""
    ids = torch.randint(5, VOCAB, (n, QUERY_BATCH, QUERY_LEN), generator=gen)
    lengths = torch.randint(6, QUERY_LEN + 1, (n, QUERY_BATCH, 1), generator=gen)
    mask = torch.arange(QUERY_LEN) < lengths
    ids.masked_fill_(~mask, 0)
    if torch.cuda.is_available():
        ids, mask = ids.pin_memory(), mask.pin_memory()
    return ids, mask


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")

    encoder = QueryEncoder().to(device).eval()
    if device == "cuda":
        encoder = encoder.to(torch.bfloat16)
    retriever = Retriever(encoder, load_passages(NUM_PASSAGES, DIM, device), device)
    ids, mask = make_requests(STEPS, torch.Generator().manual_seed(1))

    served = 0
    top1 = 0.0
    margin = 0.0
    hits = torch.zeros(NUM_PASSAGES, dtype=torch.int32)
    for step in range(STEPS):
        best, index = retriever.search(ids[step], mask[step], TOP_K)
        served += best.shape[0]
        top1 += best[:, 0].sum().item()
        margin += (best[:, 0] - best[:, -1]).sum().item()
        hits[index.flatten()] += 1
        if (step + 1) % LOG_EVERY == 0 or step == STEPS - 1:
            print(f"request {step + 1:4d}  queries {served}  mean top-1 {top1 / served:.5f}  "
                  f"mean margin {margin / served:.5f}  first ids {index[0, :3].tolist()}")
    print(f"distinct passages returned: {int((hits > 0).sum())}")


if __name__ == "__main__":
    main()
