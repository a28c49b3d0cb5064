"""Settings of the tagger."""

SENTENCES = 1024
LENGTH = 64
EPOCHS = 4
WORDS = 2000
TAGS = 12
SCORE_EVERY = 100  # batches: the first of an epoch
