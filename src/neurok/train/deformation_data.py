"""From data sets on disk to what a run learns from and what it watches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurok.data.shards import ShardSet
from neurok.data.still import UNSEEN_FAMILIES, hold_out, object_name
from neurok.data.subject import JointMotion, Subject
from neurok.errors import NeurokError


@dataclass(frozen=True)
class SplitConfig:
    """What is learned from how often, and how much is watched; both set by hand."""

    real_weight: int = 10
    """How often a real object counts, over all its clips; a generated one counts once."""

    watched: int = 32
    """Generated subjects that are watched and not learned from; real ones follow the hold-out rule."""


@dataclass(frozen=True, eq=False)
class Split:
    """Subjects to learn from, and named sets to watch."""

    train: Sequence[Subject]
    watch: dict[str, Sequence[Subject]]
    data: Sequence[dict[str, Any]] = ()
    """Names, sizes and licences of the data sets behind them, for the card of the weights."""


def split_subjects(folders: Sequence[str | Path], config: SplitConfig | None = None) -> Split:
    """Read data sets.

    The hold-out rule is applied to the objects of each data set, so that no clip of a held-out object is trained on;
    generated families that are held out are only watched. Of objects with many clips the first is watched.
    """
    config = config or SplitConfig()
    train: list[Subject] = []
    made: list[Subject] = []
    watch: dict[str, list[Subject]] = {"seen": [], "unseen": [], "clips": [], "families": []}
    notes = []
    for folder in folders:
        real: dict[str, list[Subject]] = {}
        licenses: Counter[str] = Counter()
        for item in ShardSet.open(folder):
            licenses[item.info["license"]] += 1
            subject = item.subject()
            if isinstance(subject.motion, JointMotion) and not subject.motion.can_move.any():
                continue
            if not item.info["source"].startswith("neurok"):
                real.setdefault(object_name(item.info["source"]), []).append(subject)
            elif item.info["family"] in UNSEEN_FAMILIES:
                watch["families"].append(subject)
            else:
                made.append(subject)
        notes.append(_note(folder, licenses))
        training, seen, unseen = hold_out(real)
        for name in training:
            train += real[name] * max(1, round(config.real_weight / len(real[name])))
        for group, names in (("seen", seen), ("unseen", unseen)):
            for name in names:
                first = real[name][0]
                watch[group if isinstance(first.motion, JointMotion) else "clips"].append(first)
    watch["made"], train_made = _set_aside(made, config.watched)
    watch["families"], _ = _set_aside(watch["families"], config.watched)
    train += train_made
    if not train:
        raise NeurokError(f"The data sets {', '.join(map(str, folders))} leave nothing to train on.")
    return Split(train, {name: subjects for name, subjects in watch.items() if subjects}, notes)


def licenses_of(folder: str | Path) -> dict[str, Any]:
    """Name, size and licences of a data set."""
    return _note(folder, Counter(item.info["license"] for item in ShardSet.open(folder)))


def _note(folder: str | Path, licenses: Counter[str]) -> dict[str, Any]:
    return {"name": Path(folder).name, "items": licenses.total(), "licenses": dict(licenses)}


def _set_aside(subjects: list[Subject], count: int) -> tuple[list[Subject], list[Subject]]:
    """So many taken evenly, and the others."""
    if len(subjects) <= count:
        return [], subjects
    places = {round(i * (len(subjects) - 1) / (count - 1)) for i in range(count)}
    aside = [subject for place, subject in enumerate(subjects) if place in places]
    return aside, [subject for place, subject in enumerate(subjects) if place not in places]
