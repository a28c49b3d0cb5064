# Full-batch GraphSAGE node classification (papers-like synthetic citation graph)
import time

import torch
import torch.nn.functional as F
from torch.nn import LayerNorm, Linear
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

EPOCHS = 75
EVAL_EVERY = 20
NUM_NODES = 200_000
NUM_EDGES = 4_000_000
NUM_FEATURES = 256
NUM_CLASSES = 40
HIDDEN = 128

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_float32_matmul_precision("high")


def citation_graph():
    g = torch.Generator().manual_seed(7)
    x = torch.randn(NUM_NODES, NUM_FEATURES, generator=g)
    y = torch.randint(0, NUM_CLASSES, (NUM_NODES,), generator=g)
    edge_index = torch.randint(0, NUM_NODES, (2, NUM_EDGES), generator=g)
    perm = torch.randperm(NUM_NODES, generator=g)
    n_train = NUM_NODES // 2
    return Data(x=x, y=y, edge_index=edge_index,
                train_idx=perm[:n_train], valid_idx=perm[n_train:])


class SAGE(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = Linear(NUM_FEATURES, HIDDEN)
        self.conv1 = SAGEConv(HIDDEN, HIDDEN)
        self.norm1 = LayerNorm(HIDDEN)
        self.conv2 = SAGEConv(HIDDEN, HIDDEN)
        self.norm2 = LayerNorm(HIDDEN)
        self.out = Linear(HIDDEN, NUM_CLASSES)

    def forward(self, x, edge_index):
        x = F.relu(self.proj(x))
        h = F.dropout(x, p=0.3, training=self.training)
        x = x + F.relu(self.norm1(self.conv1(h, edge_index)))
        h = F.dropout(x, p=0.3, training=self.training)
        x = x + F.relu(self.norm2(self.conv2(h, edge_index)))
        return self.out(x)


def train(model, data, optimizer):
    model.train()
    x = data.x.to(device)
    edge_index = data.edge_index.to(device)
    y = data.y.to(device)
    idx = data.train_idx.to(device)

    optimizer.zero_grad()
    out = model(x, edge_index)
    loss = F.cross_entropy(out.index_select(0, idx), y.index_select(0, idx))
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    x = data.x.to(device)
    edge_index = data.edge_index.to(device)
    pred = model(x, edge_index).argmax(dim=-1)
    y = data.y.to(device)
    idx = data.valid_idx.to(device)
    return (pred.index_select(0, idx) == y.index_select(0, idx)).float().mean().item()


def main():
    torch.manual_seed(0)
    data = citation_graph()
    print(data)
    model = SAGE().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    start = time.time()
    for epoch in range(1, EPOCHS + 1):
        loss = train(model, data, optimizer)
        if epoch % EVAL_EVERY == 0:
            acc = evaluate(model, data)
            print(f"epoch {epoch:03d}  loss {loss.item():.4f}  valid acc {acc:.4f}  {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
