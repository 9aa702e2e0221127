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
    """Read data sets; real objects count ``real_weight`` times, generated ones once."""
    real: dict[str, Subject] = {}
    made: list[Subject] = []
    for folder in folders:
        for item in ShardSet.open(folder):
            subject = item.subject()
            if isinstance(subject.motion, JointMotion) and not subject.motion.can_move.any():
                continue
            if item.info["source"].startswith("neurok"):
                made.append(subject)
            else:
                real[Path(item.info["source"]).stem + item.info["provenance"].get("clip", "")] = subject
    training, seen, unseen = hold_out(real)
    watch = {"seen": [real[n] for n in seen], "unseen": [real[n] for n in unseen]}
    stride = max(1, len(made) // WATCHED)
    kept_aside = made[::stride][:WATCHED] if len(made) > WATCHED else []
    watch["made"] = kept_aside
    aside = set(map(id, kept_aside))
    train = [real[name] for name in training] * real_weight + [s for s in made if id(s) not in aside]
    if not train:
        raise NeurokError(f"The data sets {', '.join(map(str, folders))} leave nothing to train on.")
    return Split(train, {name: subjects for name, subjects in watch.items() if subjects})
