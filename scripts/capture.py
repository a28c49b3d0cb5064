"""Puts a captured report into README.md, between its two markers: python3 scripts/capture.py < REPORT

The report is what `bottleneck run examples/images.py` prints to standard error; its first part is shown, up to the first
finding's end. Paths of the checkout and the session are shortened, nothing else.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- report -->", "<!-- end of report -->"


def first_part(text: str) -> str:
    """The report up to the end of its first finding."""
    lines = text.rstrip().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(" 1. "))
    end = next(i for i in range(first + 1, len(lines)) if not lines[i].startswith("      "))
    return re.sub(r"(bottleneck report --all) \S+", r"\1 bottleneck-out/images", "\n".join(lines[:end]))


def main() -> None:
    before, rest = README.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    report = first_part(sys.stdin.read()).replace(f"{README.parent}/", "")
    README.write_text(f"{before}{BEGIN}\n```text\n{report}\n  …\n```\n{END}{after}")


if __name__ == "__main__":
    main()
