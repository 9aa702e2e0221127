"""How much should the search count beside the network? Measured on training objects that both have left out.

Left-out categories tell what to do about things the network has never seen, left-out objects of other categories what
to do about things it knows.


neurok train ranking PARTNET_MOBILITY DATASET --leave-out Bucket Safe --out ranking.json
neurok train articulation PARTNET_MOBILITY DATASET --leave-out Bucket Safe --out run ...
python benchmarks/choose_trust.py --data PARTNET_MOBILITY --left-out Bucket Safe --ranking ranking.json \\
    --weights run/articulation.safetensors
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import tyro

from neurok.bodyplan.search import search_joints
from neurok.core import Articulation
from neurok.geometry.operators import face_areas
from neurok.hub import load_model
from neurok.learned.joints import fuse, most_likely_joints, part_parents, signed_directions, view_parts
from neurok.learned.part_features import describe_parts
from neurok.learned.search_evidence import FusionConfig, search_evidence
from neurok_lab.evaluation.articulation import COLUMNS
from neurok_lab.evaluation.joint_scores import Guess, Row, part_means, score_parts
from neurok_lab.evaluation.tables import markdown
from neurok_lab.train.examples import some_things


@dataclass
class ChooseTrust:
    """Scores of the blend of search and networks for several shares of the search in kinds and in axes."""

    data: str
    """Folder of PartNet-Mobility objects; held-out ones are never read."""

    left_out: tuple[str, ...]
    """Categories or objects that neither the ranking nor the weights have learned from."""

    ranking: Path
    weights: Path
    kinds: tuple[float, ...] = (0.4, 0.5, 0.6)
    axes: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8)
    doubtful: tuple[float, ...] = (0.5, 0.7)
    """The same for axes on which views disagree, where that is more."""


def main(options: ChooseTrust) -> None:
    ensemble = load_model(options.weights, "articulation")
    others = {thing.name for thing in some_things(options.data, None, options.left_out)}
    rows: dict[FusionConfig, list[Row]] = defaultdict(list)
    for thing in some_things(options.data, None):
        mesh, joints = thing.load()
        if thing.name in others or joints is None:
            continue
        areas, clouds = face_areas(mesh.vertices, mesh.faces), describe_parts(mesh)
        seen = view_parts(ensemble.members, clouds)
        parents = part_parents(mesh, clouds, seen.parents)
        evidence = search_evidence(
            clouds, signed_directions(clouds), search_joints(mesh, parents=parents, ranking=options.ranking)
        )
        for kinds, axes, doubtful in product(options.kinds, options.axes, options.doubtful):
            trust = FusionConfig(kinds, axes, doubtful_axes=max(axes, doubtful))
            answers = most_likely_joints(mesh, clouds, fuse(seen, evidence, trust)).answers
            rows[trust] += score_parts(Articulation(mesh, joints), Guess(answers, mesh.face_parts), areas)
    label = "kinds {0.kinds:g}, axes {0.axes:g}, in doubt {0.doubtful_axes:g}"
    table = [{"method": label.format(trust), **part_means(found)} for trust, found in rows.items()]
    print(markdown(table, {key: column for key, column in COLUMNS.items() if key in table[0]}))


if __name__ == "__main__":
    main(tyro.cli(ChooseTrust))
