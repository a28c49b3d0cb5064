"""Runs a case's slow program five times in one process and prints the seconds of each: cost.py CASE STEPS."""

import sys

from turns import load, run


def main():
    case, steps = sys.argv[1], int(sys.argv[2])
    module = load(case, "slow")
    run(module, "STEPS", 4)
    print(case, *[f"{run(module, 'STEPS', steps):.3f}" for _ in range(5)], flush=True)


if __name__ == "__main__":
    main()
