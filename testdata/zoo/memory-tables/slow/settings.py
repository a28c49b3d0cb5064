"""Settings of the ranker."""

USERS = 300000
ITEMS = 40000
WIDTH = 32
HISTORY = 4  # items
RATINGS = 40000
BATCH = 512
EPOCHS = 2
SPARSE = False  # gradients of the tables
