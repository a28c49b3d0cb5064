"""What pictures that are kept small save of decoding and shrinking large ones for each sample.

A photograph of scikit-learn's is enlarged to several sizes, with grain so that it holds as much as a real one, and saved as JPEG. For each
size and two usual transformations: the time of a sample from the large file, from a copy whose shorter side is the transformation's, and
from the large file decoded at a fraction of its size (Image.draft). Prints ms per sample, what decoding and shrinking take of it, what is
left of these two in the copy (the price input/pictures is read off it), and with draft. Needs torchvision and scikit-learn.
"""

import io
import os
import statistics
import sys
import time

import numpy as np
import sklearn
from PIL import Image
from torchvision import transforms as T

SIZES = [(320, 240), (500, 375), (640, 480), (1024, 768), (1600, 1200), (3000, 2000), (4032, 3024)]
SIDE = 256
ROUNDS = 12


def file_of(picture, quality):
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return file.getvalue()


def shorter(picture, side):
    width, height = picture.size
    scale = side / min(width, height)
    return picture.resize((round(width * scale), round(height * scale)), Image.BILINEAR)


def sample(data, transform, draft):
    """Seconds of a sample, and of them in decoding and shrinking."""
    begin = time.perf_counter()
    picture = Image.open(io.BytesIO(data))
    if draft:
        picture.draft("RGB", (SIDE, SIDE))
    picture = picture.convert("RGB")
    decoded = time.perf_counter()
    picture = transform[0](picture)
    shrunk = time.perf_counter()
    transform[1](picture)
    end = time.perf_counter()
    return end - begin, shrunk - begin, decoded - begin


def median(data, transform, draft=False):
    sample(data, transform, draft)
    return [statistics.median(side) for side in zip(*(sample(data, transform, draft) for _ in range(ROUNDS)))]


def main():
    folder = os.path.join(os.path.dirname(sklearn.__file__), "datasets", "images")
    photo = Image.open(os.path.join(folder, sys.argv[1] if len(sys.argv) > 1 else "china.jpg")).convert("RGB")
    rest = [T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)]
    ways = {
        "resize, crop": (T.Resize(SIDE), T.Compose([T.RandomCrop(224)] + rest)),
        "random resized crop": (T.RandomResizedCrop(224), T.Compose(rest)),
    }
    rng = np.random.default_rng(0)
    for size in SIZES:
        pixels = np.asarray(photo.resize(size, Image.BICUBIC), dtype=np.int16)
        grain = rng.normal(0, 4, pixels.shape[:2])[..., None]
        large = Image.fromarray((pixels + grain).clip(0, 255).astype(np.uint8))
        data, small = file_of(large, 90), file_of(shorter(large, SIDE), 90)
        for name, way in ways.items():
            whole, both, _ = median(data, way)
            _, left, _ = median(small, way)
            _, drafted, _ = median(data, way, draft=True)
            text = "%4d x %4d, %-20s %6.2f ms a sample, %6.2f decoding and shrinking; a copy leaves %5.2f, draft %5.2f"
            print(text % (*size, name, whole * 1e3, both * 1e3, left * 1e3, drafted * 1e3))


main()
