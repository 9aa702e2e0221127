"""From data sets on disk to what a run learns from and what it watches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neurok.data.shards import ShardSet
from neurok.data.splits import hold_out
from neurok.data.subject import JointMotion, Subject
from neurok.errors import NeurokError
from neurok.train.loop import Split

WATCHED = 48
"""Generated subjects kept aside to watch; real ones follow the hold-out rule."""


def split_subjects(folders: Sequence[str | Path], real_weight: int = 4) -> Split:
    """Read data sets; real objects count ``real_weight`` times, generated ones once.

    The hold-out rule is applied to the objects of each data set, so that no clip of a held-out object is trained on.
    """
    train: list[Subject] = []
    made: list[Subject] = []
    watch: dict[str, list[Subject]] = {"seen": [], "unseen": []}
    for folder in folders:
        real: dict[str, list[Subject]] = {}
        for item in ShardSet.open(folder):
            subject = item.subject()
            if isinstance(subject.motion, JointMotion) and not subject.motion.can_move.any():
                continue
            if item.info["source"].startswith("neurok"):
                made.append(subject)
            else:
                real.setdefault(Path(item.info["source"]).stem, []).append(subject)
        training, seen, unseen = hold_out(real)
        train += [subject for name in training for subject in real[name]] * real_weight
        watch["seen"] += [subject for name in seen for subject in real[name]]
        watch["unseen"] += [subject for name in unseen for subject in real[name]]
    stride = max(1, len(made) // WATCHED)
    watch["made"] = made[::stride][:WATCHED] if len(made) > WATCHED else []
    aside = set(map(id, watch["made"]))
    train += [subject for subject in made if id(subject) not in aside]
    if not train:
        raise NeurokError(f"The data sets {', '.join(map(str, folders))} leave nothing to train on.")
    return Split(train, {name: subjects for name, subjects in watch.items() if subjects})
