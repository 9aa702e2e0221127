"""One learning curve of runs that went on from each other.

python benchmarks/join_curves.py RUN RUN ... --out docs/images/neural_curve.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neurok_lab.train.deformation import DeformationTraining
from neurok_lab.train.log import draw_curve, read_log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="folders with a log.jsonl, in the order they were run")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    joined, before = [], 0
    for run in options.runs:
        log = read_log(run / "log.jsonl")
        joined += [{"step": line["step"] + before, **DeformationTraining.curve(line)} for line in log]
        before += log[-1]["step"]
    draw_curve(joined, options.out, DeformationTraining.meaning)


if __name__ == "__main__":
    main()
