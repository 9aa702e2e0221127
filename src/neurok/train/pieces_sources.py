"""Where examples of pieces come from: annotated objects, generated families, and things that stand still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from neurok.core import Joint, Mesh
from neurok.data.named_motions import named_files, named_joints
from neurok.data.still import UNSEEN_FAMILIES, category, moving_files, static_files
from neurok.errors import NeurokError
from neurok.train.articulation_data import JointDataConfig, find_things, watched_things
from neurok.train.pieces_data import PieceThing

Loader = Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]


@dataclass(frozen=True)
class PieceSources:
    """Folders and numbers of what to learn from; held-out objects, categories and families are not read."""

    annotated: tuple[str, ...] = ()
    """Folders of objects with true joints."""

    static: tuple[str, ...] = ()
    """Folders of objects that stand still; every fifth of each is kept aside."""

    named: tuple[str, ...] = ()
    """Folders of objects whose files name their doors and drawers; every fifth of each is watched instead."""

    unlabelled: tuple[str, ...] = ()
    """Folders of objects of which some may move; where the plan is sure, its answers are labels (self-training)."""

    sure: float = 0.75
    """Probability of all that a plan says, from which on it is a label: that nothing moves, or that something does and
    of every joint. What it brings is in docs/notebook/articulation.md."""

    generated: int = 4
    """Objects of each generated family ..."""

    seed: int = 19
    """... drawn from this seed."""

    watch_every: int = 10
    """Of so many static files to learn from one is watched instead."""

    leave_out: tuple[str, ...] = ()
    """Categories of annotated objects that are watched instead, so that settings can be chosen for new ones."""

    everything: bool = False
    """Learn from held-out objects and files too: for use, with nothing left to measure by."""


def training_things(sources: PieceSources) -> list[PieceThing]:
    """What is learned from."""
    aside = {thing.name for thing in watched(sources)}
    found: list[PieceThing] = []
    for folder in sources.annotated:
        found += [PieceThing(thing.name, "real", thing.load) for thing in find_things(folder, sources.everything)]
    for folder in sources.static:
        learned, kept = static_files(folder)
        found += [_static(path) for path in (*learned, *(kept if sources.everything else ()))]
    for folder in sources.named:
        found += [_named(path) for path in named_files(folder)[0]]
    known = aside | {thing.name for thing in found}
    for folder in sources.unlabelled:
        some = [_self_labelled(path, sources) for path in moving_files(folder)]
        found += [thing for thing in some if thing.name not in known]
    found = [thing for thing in found if thing.name not in aside]
    return found + list(_generated(sources))


def watched(sources: PieceSources) -> list[PieceThing]:
    """What is watched and calibrated with: annotated objects that the articulation network keeps aside as well, some
    that name what moves, and some static ones."""
    annotated = watched_things(JointDataConfig(sources.annotated)) if sources.annotated else []
    found = [PieceThing(thing.name, "real", thing.load) for thing in annotated]
    for folder in sources.annotated:
        left = (thing for thing in find_things(folder) if category(thing.name) in sources.leave_out)
        known = {thing.name for thing in found}
        found += [PieceThing(thing.name, "real", thing.load) for thing in left if thing.name not in known]
    for folder in sources.static:
        found += [_static(path) for path in static_files(folder)[0][:: sources.watch_every]]
    for folder in sources.named:
        found += [_named(path) for path in named_files(folder)[1]]
    return found


def _named(path: Path) -> PieceThing:
    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.io import load as load_asset

        mesh = load_asset(path).mesh
        return mesh, named_joints(mesh, path.stem)

    return PieceThing(f"{path.parent.name}_{path.stem}", "real", load)


def _self_labelled(path: Path, sources: PieceSources) -> PieceThing:
    """An object with the joints of its own plan, by networks that know no held-out object unless all may be known."""
    twin = "" if sources.everything else "_held_out"

    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.inference.plan import study
        from neurok.io import load as load_asset

        found = study(
            load_asset(path).mesh,
            joint_weights=f"articulation{twin}",
            piece_weights=f"pieces{twin}",
            given_parts=False,
        )
        chance = found.groups.chance if found.groups is not None else 0.5
        joints = [body.joint.probability for body in found.plan.moving if body.joint is not None]
        if joints and min(*joints, chance) >= sources.sure:
            return found.plan.mesh, found.plan.articulation.joints
        if chance <= 1.0 - sources.sure:
            return found.plan.mesh, None
        raise NeurokError(f"'{path.name}' is not learned from: its plan is not sure of what moves.")

    return PieceThing(f"{path.parent.name}_{path.stem}", "real", load)


def _static(path: Path) -> PieceThing:
    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.io import load as load_asset

        return load_asset(path).mesh, None

    return PieceThing(f"{path.parent.name}_{path.stem}", "static", load)


def _generated(sources: PieceSources) -> Iterator[PieceThing]:
    from neurok.families.articulated import FAMILIES
    from neurok.families.household import MOVING_TEN, SOFT_TWELVE

    for index in range(sources.generated):
        for family in FAMILIES:
            if sources.everything or family not in UNSEEN_FAMILIES:
                yield PieceThing(f"{family}_{sources.seed}-{index}", "generated", _family(family, sources.seed, index))
        for kind in MOVING_TEN:
            yield PieceThing(
                f"household {kind}_{sources.seed}-{index}", "generated", _household(kind, sources.seed, index)
            )
        for kind in SOFT_TWELVE:
            yield PieceThing(
                f"household {kind}_{sources.seed}-{index}", "static", _household(kind, sources.seed, index)
            )


def _family(name: str, seed: int, index: int) -> Loader:
    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.families.articulated import generate

        asset = generate(name, seed, index)[0]
        if asset is None or asset.articulation is None:
            raise NeurokError(f"No object {index} of the family {name} passes its checks.")
        return asset.articulation.mesh, asset.articulation.joints

    return load


def _household(category: str, seed: int, index: int) -> Loader:
    def load() -> tuple[Mesh, tuple[Joint, ...] | None]:
        from neurok.families.household import asset_of, generate

        asset = asset_of(generate(category, seed, index)[0])
        return asset.mesh, None if asset.articulation is None else asset.articulation.joints

    return load
