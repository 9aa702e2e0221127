"""Fit the weights with which the search ranks its lines ('priors.json') to annotated training objects.

python benchmarks/fit_ranking.py --data PARTNET_MOBILITY DATASET --out src/neurok/bodyplan/priors.json
"""

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from neurok.io.files import write_files
from neurok.train.articulation_data import some_things
from neurok.train.articulation_ranking import learn, to_table, top_share


@dataclass
class FitRanking:
    """Fit the weights of the search's evidence; held-out objects are never read."""

    data: tuple[str, ...]
    """Folders of PartNet-Mobility objects and data sets made by 'neurok data build'."""

    out: Path
    """The JSON file to write."""

    limit: int = 200
    """At most so many objects of each data set."""

    leave_out: tuple[str, ...] = ()
    """Categories, generated families and objects not to learn from."""


def main(options: FitRanking) -> None:
    things = [thing for folder in options.data for thing in some_things(folder, options.limit, options.leave_out)]
    found, real = learn(things)
    write_files(options.out, {options.out.name: (json.dumps(to_table(found), indent=1) + "\n").encode()})
    print(f"{len(things)} objects; the best line is right for {top_share(found, real):.3f} of {len(real)} real parts")


if __name__ == "__main__":
    main(tyro.cli(FitRanking))
