"""Makes data of the form that a public program reads, from a fixed seed: python make.py KIND FOLDER [NAME=NUMBER ...]

Only the form is real: sizes, types and file names. What is learned from it means nothing, which no timing notices.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np

RANDOM = np.random.default_rng(20)
SYLLABLES = "ka ro mi ten sha lo bel ari no ves tu pen dra si ol em fa ge hu qui".split()


def mnist(out: Path, train: int = 60000, test: int = 10000) -> None:
    """The four files of MNIST in their own format: blobs, so that they compress no better than digits."""
    folder = out / "MNIST" / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("t10k", test)):
        images = np.zeros((count, 28, 28), np.uint8)
        images[:, 4:24, 4:24] = RANDOM.integers(0, 256, (count, 20, 20), np.uint8)
        labels = RANDOM.integers(0, 10, count, np.uint8)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(np.array([2051, count, 28, 28], ">i4").tobytes() + images.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(np.array([2049, count], ">i4").tobytes() + labels.tobytes())


def images(out: Path, classes: int = 4, each: int = 100, width: int = 128, height: int = 128, png: int = 0) -> None:
    """A folder of images for each class; without classes all lie in one folder."""
    from PIL import Image

    suffix = "png" if png else "jpg"
    for group in range(max(classes, 1)):
        folder = out / f"class{group}" if classes else out
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(each):
            coarse = Image.fromarray(RANDOM.integers(0, 256, (height // 8, width // 8, 3), np.uint8))
            coarse.resize((width, height), Image.Resampling.BICUBIC).save(folder / f"image_{group}_{i}.{suffix}")


def masks(out: Path, count: int = 40, width: int = 192, height: int = 128) -> None:
    """Images and their masks of two classes, by the same names."""
    from PIL import Image

    images(out / "imgs", 0, count, width, height)
    (out / "masks").mkdir(parents=True, exist_ok=True)
    for i in range(count):
        coarse = Image.fromarray(RANDOM.integers(0, 2, (height // 16, width // 16), np.uint8) * 255)
        coarse.resize((width, height), Image.Resampling.NEAREST).save(out / "masks" / f"image_0_{i}.gif")


def vocabulary(count: int) -> list[str]:
    return sorted({"".join(RANDOM.choice(SYLLABLES, RANDOM.integers(1, 5))) for _ in range(count)})


def text(count: int, words: list[str]) -> str:
    """Sentences of words whose frequencies fall as those of a language do."""
    ranks = np.minimum(RANDOM.zipf(1.3, count), len(words)) - 1
    drawn = [words[r] for r in ranks]
    return "".join(" ".join(drawn[i : i + 12]).capitalize() + ".\n" for i in range(0, count, 12))


def words(out: Path, train: int = 60000, test: int = 6000, known: int = 5000) -> None:
    """A corpus of words: train.txt, valid.txt and test.txt."""
    out.mkdir(parents=True, exist_ok=True)
    list_of = vocabulary(known)
    for name, count in (("train", train), ("valid", test), ("test", test)):
        (out / f"{name}.txt").write_text(text(count, list_of))


def chars(out: Path, count: int = 180000) -> None:
    """A text of some million letters in one file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    letters = "".join(chr(c) for c in range(32, 127))  # a program's own prompt has no unknown letter
    out.write_text(letters + "\n" + text(count, vocabulary(5000)))


def names(out: Path, count: int = 32000) -> None:
    """One name a line."""
    out.write_text("\n".join(vocabulary(count)) + "\n")


def tokens(out: Path, train: int = 1000000, test: int = 100000, known: int = 65) -> None:
    """Two files of token numbers and the alphabet, as nanoGPT's preparation leaves them."""
    out.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("val", test)):
        RANDOM.integers(0, known, count, np.uint16).tofile(out / f"{name}.bin")
    letters = {i: "\n" if i == 0 else chr(31 + i) for i in range(known)}
    (out / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": known, "itos": letters, "stoi": {v: k for k, v in letters.items()}}))


def cora(out: Path, nodes: int = 2708, features: int = 1433, links: int = 5429) -> None:
    """The citation graph as two tables of text."""
    out.mkdir(parents=True, exist_ok=True)
    classes = "Case_Based Genetic_Algorithms Neural_Networks Probabilistic_Methods Reinforcement_Learning Rule_Learning Theory".split()
    present = RANDOM.random((nodes, features)) < 0.0127
    with open(out / "cora.content", "w") as file:
        for node, row in enumerate(present):
            file.write("\t".join([str(node + 1000), *("1" if x else "0" for x in row), classes[node % 7]]) + "\n")
    pairs = RANDOM.integers(0, nodes, (links, 2)) + 1000
    (out / "cora.cites").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))


def planetoid(out: Path, nodes: int = 2708, features: int = 1433, links: int = 5429, train: int = 140, test: int = 1000) -> None:
    """The same graph as the pickles that Planetoid's loader reads."""
    from collections import defaultdict

    import scipy.sparse as sparse

    raw = out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    rest = nodes - test

    def rows(count: int) -> sparse.csr_matrix:
        return sparse.csr_matrix((RANDOM.random((count, features)) < 0.0127).astype(np.float32))

    def kinds(count: int) -> np.ndarray:
        return np.eye(7, dtype=np.int32)[RANDOM.integers(0, 7, count)]

    every, labels = rows(rest), kinds(rest)
    graph = defaultdict(list)
    for a, b in RANDOM.integers(0, nodes, (links, 2)).tolist():
        graph[a].append(b)
        graph[b].append(a)
    for node in range(nodes):
        graph[node].append((node + 1) % nodes)
    parts = {
        "x": every[:train],
        "tx": rows(test),
        "allx": every,
        "y": labels[:train],
        "ty": kinds(test),
        "ally": labels,
        "graph": dict(graph),
    }
    for name, value in parts.items():
        (raw / f"ind.cora.{name}").write_bytes(pickle.dumps(value))
    (raw / "ind.cora.test.index").write_text("".join(f"{i}\n" for i in RANDOM.permutation(np.arange(rest, nodes))))


def molecules(out: Path, graphs: int = 188) -> None:
    """A set of small labelled graphs as the TU collection writes them."""
    raw = out / "MUTAG" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    edges, owners, first = [], [], 1
    for graph in range(graphs):
        size = int(RANDOM.integers(10, 28))
        for i in range(size):
            owners.append(graph + 1)
            for j in (i + 1, i + 6) if i % 3 == 0 else (i + 1,):
                if j < size:
                    edges += [(first + i, first + j), (first + j, first + i)]
        first += size
    columns = {
        "A": [f"{a}, {b}" for a, b in edges],
        "graph_indicator": owners,
        "graph_labels": [1 if x else -1 for x in RANDOM.integers(0, 2, graphs)],
        "node_labels": RANDOM.integers(0, 7, len(owners)).tolist(),
        "edge_labels": RANDOM.integers(0, 4, len(edges)).tolist(),
    }
    for name, values in columns.items():
        (raw / f"MUTAG_{name}.txt").write_text("".join(f"{v}\n" for v in values))


def series(out: Path, rows: int = 6000, columns: int = 6) -> None:
    """Hourly values of several sensors as the ETT tables have them."""
    from datetime import datetime, timedelta

    out.parent.mkdir(parents=True, exist_ok=True)
    values = RANDOM.normal(size=(rows, columns + 1)).cumsum(0) / 50
    start = datetime(2016, 7, 1)
    with open(out, "w") as file:
        file.write(",".join(["date", "HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"]) + "\n")
        for i, row in enumerate(values):
            file.write(f"{start + timedelta(hours=i)}," + ",".join(f"{v:.4f}" for v in row) + "\n")


def llama(out: Path, hidden: int = 128, layers: int = 4, known: int = 2000) -> None:
    """A small language model of random weights with a tokenizer of whole words, as Hugging Face's loaders read them."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = ["<unk>", "<s>", "</s>", "<pad>"]
    alphabet = {word: i for i, word in enumerate([*special, *vocabulary(known)])}
    tokenizer = Tokenizer(models.WordLevel(alphabet, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    named = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)
    fast.chat_template = "{% for message in messages %}{{ message['role'] }} {{ message['content'] }} </s> {% endfor %}"
    fast.save_pretrained(out)
    size = {"hidden_size": hidden, "intermediate_size": 2 * hidden, "num_hidden_layers": layers, "num_attention_heads": 4}
    LlamaForCausalLM(LlamaConfig(vocab_size=len(alphabet), **size)).save_pretrained(out)


def lines(out: Path, rows: list[dict]) -> None:
    import json

    out.mkdir(parents=True, exist_ok=True)
    (out / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def sentences(out: Path, count: int = 1200, known: int = 2000) -> None:
    """Texts for a language model, one a line of JSON."""
    list_of = vocabulary(known)
    lines(out, [{"text": text(int(RANDOM.integers(40, 120)), list_of)} for _ in range(count)])


def preferences(out: Path, count: int = 600, known: int = 2000) -> None:
    """Prompts with a better and a worse answer, one a line of JSON."""
    list_of = vocabulary(known)
    sizes = {"prompt": 20, "chosen": 60, "rejected": 60}
    lines(out, [{name: text(size, list_of) for name, size in sizes.items()} for _ in range(count)])


KINDS = {
    f.__name__: f
    for f in (mnist, images, masks, words, chars, names, tokens, cora, planetoid, molecules, series, llama, sentences, preferences)
}

if __name__ == "__main__":
    kind, folder, *options = sys.argv[1:]
    KINDS[kind](Path(folder), **{k: int(v) for k, v in (o.split("=") for o in options)})
