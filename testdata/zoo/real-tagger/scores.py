"""Scores of tag lines: the share of right tags, and how many edits turn a guessed line into the wanted one."""


def edits(guessed, wanted):
    """Levenshtein's distance, row by row."""
    before = list(range(len(wanted) + 1))
    for i, guess in enumerate(guessed, 1):
        row = [i]
        for j, want in enumerate(wanted, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (guess != want)))  # the cost
        before = row
    return before[-1]


class Scores:
    def __init__(self):
        self.right = self.total = self.distance = self.lines = 0

    def add(self, guesses, wanted):
        self.right += (guesses == wanted).sum().item()
        self.total += wanted.numel()
        for guess, want in zip(guesses.tolist(), wanted.tolist()):
            self.distance += edits(guess, want)
            self.lines += 1

    def mean(self):
        return self.right / max(self.total, 1)

    def __str__(self):
        return f"{self.mean():.3f} right, {self.distance / max(self.lines, 1):.1f} edits a line"
