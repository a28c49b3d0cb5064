"""Takes a cause away, where the launcher asks for it: what is then saved bounds what a fix of the cause can save."""

import functools
import gc

from . import core

FROZEN_AFTER = 2  # steps, in which the program has made what it keeps
BATCHES = 4  # of each size that a data set's fetcher keeps

kept = {}  # (id of a data set, size of a batch) -> [batches, batches given again]


def install(torch):
    """Lets DataLoaders give the same few batches again, from memory, or keeps what one place writes from being written."""
    if core.config.ablate == "io":
        from . import droppedwrites

        droppedwrites.install(torch, core.config.ablate_file, core.config.ablate_line)
    if core.config.ablate != "input":
        return
    from torch.utils.data._utils import fetch

    repeat(fetch._MapDatasetFetcher)


def repeat(fetcher):
    """A data set that is iterated ends by itself, so that only those that are indexed are repeated."""
    original = fetcher.fetch

    @functools.wraps(original)
    def fetch(self, indices):
        batches = kept.setdefault((id(self.dataset), len(indices) if hasattr(indices, "__len__") else 1), [[], 0])
        if len(batches[0]) < BATCHES:
            batches[0].append(original(self, indices))
            return batches[0][-1]
        batches[1] += 1
        core.count("ablated")
        return batches[0][batches[1] % BATCHES]

    fetcher.fetch = fetch


def stepped(finished):
    """A step has ended: from some on, what lives then is not looked at by the garbage collector any more."""
    if core.config.ablate == "gc" and finished == FROZEN_AFTER:
        gc.collect()
        gc.freeze()
        core.count("ablated")
