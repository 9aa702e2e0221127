"""Try damaged files of every kind: python benchmarks/fuzz.py --count 10000 --write docs/reliability.md

Mutants are named by numbers, so the same count tries the same files again; --first and --count take any range, and
folders of those that went wrong are kept in --keep.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from figures import replace_block, stamp
from fuzzing.runner import BAD, Tally, run, seed_names

GOOD = ("read", "refused")


def table(tally: Tally, minutes: float) -> str:
    """The outcomes by kind of file, and what must not be."""
    rows: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (seed, verdict), count in tally.verdicts.items():
        rows[seed][verdict] += count
    found = list(BAD)
    total = {verdict: sum(row[verdict] for row in rows.values()) for verdict in (*GOOD, *found)}
    lines = [
        f"| file | mutants | {' | '.join((*GOOD, *found))} |",
        "|---|---" + "|---" * (len(GOOD) + len(found)) + "|",
    ]
    for seed, row in rows.items():
        counts = [row[verdict] for verdict in (*GOOD, *found)]
        lines.append(f"| {seed} | {sum(counts):,} | {' | '.join(f'{count:,}' for count in counts)} |")
    counts = [total[verdict] for verdict in (*GOOD, *found)]
    lines.append(f"| **all** | **{sum(counts):,}** | {' | '.join(f'**{count:,}**' for count in counts)} |")
    lines += [
        "",
        f"{stamp()}. Most of one mutant: {tally.most_seconds:.1f} s of computing, "
        f"{tally.most_memory / 1e6:.0f} MB added. {tally.total_seconds / 60:.0f} minutes of computing in "
        f"{minutes:.0f} minutes beside other work.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--master", type=int, default=0, help="another number draws other mutants")
    parser.add_argument("--kinds", nargs="*", default=[], help="names of seeds, such as glb; all if not given")
    parser.add_argument("--without", nargs="*", default=[], help="all but these")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--write", type=Path, help="a page whose block gets the table")
    parser.add_argument("--block", default="fuzz", help="the name of that block")
    flags = parser.parse_args()
    begin = time.monotonic()
    kinds = flags.kinds
    if flags.without:
        kinds = [name for name in seed_names() if name not in flags.without]
    numbers = range(flags.first, flags.first + flags.count)
    tally = run(numbers, flags.master, flags.keep, flags.workers, kinds=kinds)
    text = table(tally, (time.monotonic() - begin) / 60)
    print(text)
    for outcome in tally.bad[:40]:
        print(f"{outcome.number} {outcome.seed}: {outcome.verdict}: {outcome.detail.strip().splitlines()[-1:]}")
    if flags.write:
        replace_block(flags.write, flags.block, text)
    sys.exit(bool(tally.bad))


if __name__ == "__main__":
    main()
