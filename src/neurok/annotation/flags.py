"""Figures of the runs to flags: what is implausible, in which run and part, and what to try, in one sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from neurok.annotation.config import ACTIONS, LimitConfig
from neurok.core import Material
from neurok.core.gravity import STANDARD_GRAVITY
from neurok.core.material_library import library
from neurok.dynamics.soft import SOFT

FLOWING = ("fluid", "sand", "plasticine")
"""Kinds of materials that lose their shape by nature."""

PUSHED = ("drop", "throw", "drag")
"""Runs in which everything moves."""

SETTLED = ("stand", "drop", "throw", "drag", "wind")
"""Runs that end in rest: a slope may be slid down for long."""


@dataclass(frozen=True)
class Part:
    """What a flag must know of a part."""

    name: str
    material: Material
    alternatives: tuple[tuple[str, float], ...] = ()
    mass: float = 0.0
    """[kg]."""

    @property
    def words(self) -> str:
        return f"{self.name} ({self.material.name})"

    @property
    def family(self) -> str:
        entry = library().get(self.material.name)
        return "" if entry is None else entry.family

    @property
    def is_soft(self) -> bool:
        return self.material.young <= SOFT.stiff

    @property
    def flows(self) -> bool:
        return self.material.kind in FLOWING

    def other(self, better: str) -> str:
        """What to try: the likeliest alternative that is stiffer, softer or lighter, or just that word."""
        mine = self.material
        fits = {
            "stiffer": lambda m: m.young > 2.0 * mine.young,
            "softer": lambda m: m.young < 0.5 * mine.young,
            "lighter": lambda m: m.density < 0.8 * mine.density,
            "heavier": lambda m: m.density > 1.25 * mine.density,
        }[better]
        known = [library()[name].material for name, _ in self.alternatives if name in library()]
        found = next((stuff.name for stuff in known if fits(stuff)), None)
        return f"a {better} material, perhaps {found}?" if found else f"a {better} material?"


@dataclass(frozen=True)
class Bulk:
    """What a flag must know of the whole object."""

    size: float
    """Diagonal of its box [m]."""

    mass: float
    """As the simulation has it [kg]."""

    density: float
    """That by the volume of its box [kg/m³]."""


@dataclass(frozen=True)
class Flag:
    """One thing that is implausible."""

    kind: str
    run: str
    """In which run it shows most; empty where it shows in none."""

    part: str
    """Empty where it is of the whole object."""

    value: float
    limit: float
    sentence: str

    @property
    def record(self) -> dict[str, Any]:
        return asdict(self)


def flags_of(
    runs: Mapping[str, Mapping[str, Any]], parts: tuple[Part, ...], bulk: Bulk, config: LimitConfig
) -> list[Flag]:
    """All flags of an object, one for each kind and part, by the worst run; ``runs`` as ``measure`` has them."""
    return [
        *_diverged(runs, parts),
        *_weight(parts, bulk, config),
        *_standing(runs, parts, config),
        *_whole(runs, parts, config),
        *_restless(runs, parts, bulk.size, config),
        *(flag for part in parts for flag in _part(runs, part, config)),
    ]


def _diverged(runs: Mapping[str, Mapping[str, Any]], parts: tuple[Part, ...]) -> Iterator[Flag]:
    for name, run in runs.items():
        if run["status"] == "diverged":
            softest = min(parts, key=lambda part: part.material.young)
            yield Flag(
                "diverged", name, softest.name, run["seconds"], 0.0,
                f"The run '{name}' came apart after {run['seconds']:.2g} s; the softest part is {softest.words}: "
                f"{softest.other('stiffer')}",
            )  # fmt: skip


def _weight(parts: tuple[Part, ...], bulk: Bulk, config: LimitConfig) -> Iterator[Flag]:
    heaviest = max(parts, key=lambda part: part.mass)
    total = sum(part.mass for part in parts)
    if bulk.density > config.heavy:
        yield Flag(
            "heavy", "", heaviest.name, bulk.density, config.heavy,
            f"It weighs {bulk.mass:.3g} kg, {bulk.density:.0f} kg for each m³ of its box; {heaviest.words} makes "
            f"{heaviest.mass:.3g} kg of it: hollow, or {heaviest.other('lighter')}",
        )  # fmt: skip
    if bulk.density < config.light:
        yield Flag(
            "light", "", heaviest.name, bulk.density, config.light,
            f"It weighs only {bulk.mass:.2g} kg, {bulk.density:.2g} kg for each m³ of its box; the heaviest part is "
            f"{heaviest.words}: {heaviest.other('heavier')}",
        )  # fmt: skip
    if bulk.mass > config.filled * total and bulk.density > config.dense:
        densest = max(parts, key=lambda part: part.material.density)
        yield Flag(
            "filled", "", densest.name, bulk.mass / max(total, 1e-300), config.filled,
            f"Its surfaces weigh {total:.3g} kg as sheets, but {bulk.mass:.3g} kg are moved: an open part such as "
            f"{densest.words} is taken for solid; {densest.other('lighter')}",
        )  # fmt: skip


def _standing(runs: Mapping[str, Mapping[str, Any]], parts: tuple[Part, ...], config: LimitConfig) -> Iterator[Flag]:
    run = runs.get("stand")
    if run is None or run["status"] != "ok":
        return
    if run["lean"] > config.leans:
        heaviest = max(parts, key=lambda part: part.mass)
        yield Flag(
            "tips", "stand", heaviest.name, run["lean"], config.leans,
            f"Nobody touches it, and it leans by {run['lean']:.0f} degrees after {run['seconds']:.1f} s; the "
            f"heaviest part is {heaviest.words} with {heaviest.mass:.3g} kg: {heaviest.other('lighter')}",
        )  # fmt: skip
    elif 1.0 - run["height"] > config.sags:
        softest = min(
            (part for part in parts if part.name in run["parts"]), key=lambda part: run["parts"][part.name]["squash"][1]
        )
        yield Flag(
            "sags", "stand", softest.name, 1.0 - run["height"], config.sags,
            f"It loses {1.0 - run['height']:.0%} of its height under its own weight, most in {softest.words}: "
            f"{softest.other('stiffer')}",
        )  # fmt: skip


def _whole(runs: Mapping[str, Mapping[str, Any]], parts: tuple[Part, ...], config: LimitConfig) -> Iterator[Flag]:
    good = {name: run for name, run in runs.items() if run["status"] == "ok"}
    if not good:
        return
    name, run = max(good.items(), key=lambda item: item[1]["depth"])
    if run["depth"] > config.deep:
        softest = min(parts, key=lambda part: part.material.young)
        yield Flag(
            "penetrates", name, softest.name, run["depth"], config.deep,
            f"In '{name}' it goes {run['depth']:.1%} of its size into the ground; the softest part is {softest.words}: "
            f"{softest.other('stiffer')}",
        )  # fmt: skip
    for name in [name for name in PUSHED if name in good and good[name]["moved"] < config.still]:
        heaviest = max(parts, key=lambda part: part.mass)
        yield Flag(
            "does not move", name, heaviest.name, good[name]["moved"], config.still,
            f"It does not move in '{name}'; the heaviest part is {heaviest.words} with {heaviest.mass:.3g} kg: "
            f"{heaviest.other('lighter')}",
        )  # fmt: skip
    for name in [name for name in SETTLED if name in good and _floats(good[name], config)][:1]:
        run = good[name]
        yield Flag(
            "floats", name, "", run["above"], config.floats,
            f"After '{name}' it rests {run['above']:.1%} of its size above the ground.",
        )  # fmt: skip


def _floats(run: Mapping[str, Any], config: LimitConfig) -> bool:
    return bool(run["above"] > config.floats and run["speed"][1] < config.resting)


def _restless(
    runs: Mapping[str, Mapping[str, Any]], parts: tuple[Part, ...], size: float, config: LimitConfig
) -> Iterator[Flag]:
    """What should rest and does not: all of it where nobody touches it, elsewhere what it shakes by within itself.

    What rolls, slides or is still falling when a run ends is nothing to complain of.
    """
    unit = math.sqrt(size / STANDARD_GRAVITY)
    worst, speed = "", 0.0
    for name, run in ((name, runs[name]) for name in SETTLED if name in runs):
        before, last = run["speed"] if name == "stand" else run["shake"]
        due = run["status"] == "ok" and run["seconds"] >= (ACTIONS[name] + config.patience) * unit
        if due and last > max(config.resting, config.settling * before, speed):
            worst, speed = name, float(last)
    if worst:
        softest = min(parts, key=lambda part: part.material.young)
        yield Flag(
            "never rests", worst, softest.name, speed, config.resting,
            f"After {runs[worst]['seconds']:.1f} s of '{worst}' it still moves by {speed:.0%} of its size in a second "
            f"and does not slow down: does {softest.words} need {softest.other('stiffer')}",
        )  # fmt: skip


def _part(runs: Mapping[str, Mapping[str, Any]], part: Part, config: LimitConfig) -> Iterator[Flag]:
    """What is implausible about one part, each kind by the run that shows it most."""
    seen = {name: run["parts"][part.name] for name, run in runs.items() if part.name in run["parts"]}
    if not seen or part.flows:
        return
    if part.is_soft:
        yield from _flows(seen, part, config)
        yield from _gives(seen, part, config)
    else:
        name, value = _worst(seen, "bend")
        if value > config.bend:
            yield Flag(
                "bends", name, part.name, value, config.bend,
                f"{part.words} bends by {value:.0%} of its size in '{name}' though it is stiff: "
                f"{part.other('stiffer')}",
            )  # fmt: skip
    name, value = _worst(seen, "stretch")
    takes = config.takes(part.family)
    if takes is not None and value > takes:
        yield Flag(
            "tears", name, part.name, value, takes,
            f"{part.words} is stretched by {value:.0%} in '{name}', and {part.family} takes {takes:.0%}: "
            f"{part.other('stiffer')}",
        )  # fmt: skip
    name, value = _worst(seen, "apart")
    if value > config.apart:
        yield Flag(
            "comes apart", name, part.name, value, config.apart,
            f"{part.words} leaves what it touches by {value:.1%} of the object's size in '{name}': "
            f"{part.other('stiffer')}",
        )  # fmt: skip


def _flows(seen: Mapping[str, Mapping[str, list[float]]], part: Part, config: LimitConfig) -> Iterator[Flag]:
    flattest, squash = min(((name, run["squash"][1]) for name, run in seen.items()), key=lambda item: item[1])
    widest, spread = max(((name, run["spread"][1]) for name, run in seen.items()), key=lambda item: item[1])
    if squash < config.flat:
        yield Flag(
            "flows", flattest, part.name, squash, config.flat,
            f"{part.words} ends '{flattest}' at {squash:.0%} of its extent: {part.other('stiffer')}",
        )  # fmt: skip
    elif spread > config.spread:
        yield Flag(
            "flows", widest, part.name, spread, config.spread,
            f"{part.words} ends '{widest}' at {spread:.0%} of its extent: {part.other('stiffer')}",
        )  # fmt: skip


def _gives(seen: Mapping[str, Mapping[str, list[float]]], part: Part, config: LimitConfig) -> Iterator[Flag]:
    """Whether something soft moves like a block of stone."""
    if part.material.young > config.yielding:
        return
    most = max(max(run["stretch"][0], 1.0 - run["squash"][0], run["bend"][0]) for run in seen.values())
    if most < config.gives:
        yield Flag(
            "does not give", "drop", part.name, most, config.gives,
            f"{part.words} gives way by only {most:.2%} in any of the runs though it is soft: {part.other('softer')}",
        )  # fmt: skip


def _worst(seen: Mapping[str, Mapping[str, list[float]]], key: str) -> tuple[str, float]:
    return max(((name, run[key][0]) for name, run in seen.items()), key=lambda item: item[1])
