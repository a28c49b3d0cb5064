"""Takes 16 MB in each step, writes on each of its pages, and gives them back."""

import mmap

PAGES = 4096


def work():
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        for page in range(PAGES):
            memory[page * mmap.PAGESIZE] = 1


for _ in range(120):
    work()
