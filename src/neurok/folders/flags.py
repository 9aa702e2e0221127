"""Figures of the runs to flags: what is implausible, in which run and part, and what to try, in one sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from neurok.core import Material
from neurok.core.material import STANDARD_GRAVITY
from neurok.core.material_library import library
from neurok.scene.outcome import FLOWING, OutcomeConfig

ACTIONS = {"stand": 0.0, "drop": 1.0, "throw": 2.0, "tilt": 0.0, "drag": 3.0, "wind": 3.0}
"""What is done to each object: it stands on the ground, and the five actions of ``neurok simulate --act``; and when
that is over, so that it may come to rest [√(size / g)]."""


@dataclass(frozen=True)
class LimitConfig(OutcomeConfig):
    """From where on a motion is flagged: what nobody believes, and what is odd for such materials."""

    flat: float = 0.6
    """A soft part that ends at less than this share of its extent in some direction has flowed (set)."""

    spread: float = 1.6
    """... or at more than this share (set)."""

    still: float = 0.002
    """What falls, is thrown or pulled moves by more than this [sizes]."""

    gives: float = 1e-4
    """What is soft stretches, bends or is squashed by more than this share in the hardest of the runs (set)."""

    yielding: float = 1e6
    """Materials up to this modulus [Pa] are expected to give visibly: foam, cushions, flesh; stiffer ones when they are
    sheets, which depends on their shape."""

    deep: float = 0.005
    """Depth in the ground [sizes]."""

    heavy: float = 400.0
    """Mass by the volume of the box [kg/m³]: furniture has 10 to 100, thick stoneware 500 (set)."""

    light: float = 3.0
    """The same from below: a rattan chair has 15, an empty bag of cloth 6 (set)."""

    filled: float = 2.0
    """Mass that an engine moves beside that of the surfaces, open ones as sheets: more means that something hollow was
    filled ..."""

    dense: float = 75.0
    """... which is right for a cushion, and is only told from this mass by the volume of the box on [kg/m³] (set)."""

    sags: float = 0.05
    """Height that a standing object loses under its own weight, as a share of it (set)."""

    leans: float = 20.0
    """By how much an object tips that nobody touches [degrees]: half of what makes it fall."""

    floats: float = 0.02
    """Height above the ground at the end [sizes]: contact shapes are convex and may hover a little."""


LIMITS = LimitConfig()


PUSHED = ("drop", "throw", "drag")
"""Runs in which everything moves."""

SETTLED = ("stand", "drop", "throw", "drag", "wind")
"""Runs that end in rest: a slope may be slid down for long."""


@dataclass(frozen=True)
class TriedPart:
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
        return self.material.is_soft

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


Runs = Mapping[str, Mapping[str, Any]]
"""Figures of each run, as ``measure`` has them."""


def flags_of(runs: Runs, parts: tuple[TriedPart, ...], bulk: Bulk, config: LimitConfig) -> list[Flag]:
    """All flags of an object, one for each kind and part, by the worst run."""
    return [
        *_diverged(runs, parts),
        *_weight(parts, bulk, config),
        *_standing(runs, parts, config),
        *_whole(runs, parts, config),
        *_restless(runs, parts, bulk.size, config),
        *(flag for part in parts for flag in _part(runs, part, config)),
    ]


def _over(
    kind: str, run: str, part: TriedPart, value: float, limit: float, sentence: str, remedy: str = "stiffer"
) -> Iterator[Flag]:
    """A flag if a value is over its limit, with the remedy at the end of its sentence."""
    if value > limit:
        yield Flag(kind, run, part.name, value, limit, f"{sentence}: {part.other(remedy)}")


def _under(
    kind: str, run: str, part: TriedPart, value: float, limit: float, sentence: str, remedy: str = "stiffer"
) -> Iterator[Flag]:
    """The same if it is under its limit."""
    if value < limit:
        yield Flag(kind, run, part.name, value, limit, f"{sentence}: {part.other(remedy)}")


def _softest(parts: tuple[TriedPart, ...]) -> TriedPart:
    return min(parts, key=lambda part: part.material.young)


def _heaviest(parts: tuple[TriedPart, ...]) -> TriedPart:
    return max(parts, key=lambda part: part.mass)


def _diverged(runs: Runs, parts: tuple[TriedPart, ...]) -> Iterator[Flag]:
    softest = _softest(parts)
    for name, run in runs.items():
        if run["status"] == "diverged":
            sentence = f"The run '{name}' came apart after {run['seconds']:.2g} s; the softest part is {softest.words}"
            yield Flag("diverged", name, softest.name, run["seconds"], 0.0, f"{sentence}: {softest.other('stiffer')}")


def _weight(parts: tuple[TriedPart, ...], bulk: Bulk, config: LimitConfig) -> Iterator[Flag]:
    heaviest, densest = _heaviest(parts), max(parts, key=lambda part: part.material.density)
    total = sum(part.mass for part in parts)
    if bulk.density > config.heavy:
        yield Flag(
            "heavy", "", heaviest.name, bulk.density, config.heavy,
            f"It weighs {bulk.mass:.3g} kg, {bulk.density:.0f} kg for each m³ of its box; {heaviest.words} makes "
            f"{heaviest.mass:.3g} kg of it: hollow, or {heaviest.other('lighter')}",
        )  # fmt: skip
    yield from _under(
        "light", "", heaviest, bulk.density, config.light,
        f"It weighs only {bulk.mass:.2g} kg, {bulk.density:.2g} kg for each m³ of its box; the heaviest part is "
        f"{heaviest.words}", "heavier",
    )  # fmt: skip
    if bulk.mass > config.filled * total and bulk.density > config.dense:
        yield Flag(
            "filled", "", densest.name, bulk.mass / max(total, 1e-300), config.filled,
            f"Its surfaces weigh {total:.3g} kg as sheets, but {bulk.mass:.3g} kg are moved: an open part such as "
            f"{densest.words} is taken for solid; {densest.other('lighter')}",
        )  # fmt: skip


def _standing(runs: Runs, parts: tuple[TriedPart, ...], config: LimitConfig) -> Iterator[Flag]:
    run = runs.get("stand")
    if run is None or run["status"] == "diverged":
        return
    if run["lean"] > config.leans:
        heaviest = _heaviest(parts)
        yield from _over(
            "tips", "stand", heaviest, run["lean"], config.leans,
            f"Nobody touches it, and it leans by {run['lean']:.0f} degrees after {run['seconds']:.1f} s; the "
            f"heaviest part is {heaviest.words} with {heaviest.mass:.3g} kg", "lighter",
        )  # fmt: skip
        return
    lost = 1.0 - run["height"]
    seen = [part for part in parts if part.name in run["parts"]]
    if seen:
        flattest = min(seen, key=lambda part: run["parts"][part.name]["squash"][1])
        yield from _over(
            "sags", "stand", flattest, lost, config.sags,
            f"It loses {lost:.0%} of its height under its own weight, most in {flattest.words}",
        )  # fmt: skip


def _whole(runs: Runs, parts: tuple[TriedPart, ...], config: LimitConfig) -> Iterator[Flag]:
    good = {name: run for name, run in runs.items() if run["status"] != "diverged"}
    if not good:
        return
    softest, heaviest = _softest(parts), _heaviest(parts)
    name, run = max(good.items(), key=lambda item: item[1]["depth"])
    yield from _over(
        "penetrates", name, softest, run["depth"], config.deep,
        f"In '{name}' it goes {run['depth']:.1%} of its size into the ground; the softest part is {softest.words}",
    )  # fmt: skip
    for name in [name for name in PUSHED if name in good]:
        yield from _under(
            "does not move", name, heaviest, good[name]["moved"], config.still,
            f"It does not move in '{name}'; the heaviest part is {heaviest.words} with {heaviest.mass:.3g} kg",
            "lighter",
        )  # fmt: skip
    floating = [name for name in SETTLED if name in good and _floats(good[name], config)]
    for name in floating[:1]:
        above = good[name]["above"]
        sentence = f"After '{name}' it rests {above:.1%} of its size above the ground."
        yield Flag("floats", name, "", above, config.floats, sentence)


def _floats(run: Mapping[str, Any], config: LimitConfig) -> bool:
    return bool(run["above"] > config.floats and run["speed"][1] < config.resting)


def _restless(runs: Runs, parts: tuple[TriedPart, ...], size: float, config: LimitConfig) -> Iterator[Flag]:
    """What should rest and does not: all of it where nobody touches it, elsewhere what it shakes by within itself.

    What rolls, slides or is still falling when a run ends is nothing to complain of.
    """
    unit = math.sqrt(size / STANDARD_GRAVITY)
    worst, speed = "", 0.0
    for name, run in ((name, runs[name]) for name in SETTLED if name in runs):
        before, last = run["speed"] if name == "stand" else run["shake"]
        due = run["status"] != "diverged" and run["seconds"] >= (ACTIONS[name] + config.patience) * unit
        if due and last > max(config.resting, config.settling * before, speed):
            worst, speed = name, float(last)
    if worst:
        softest = _softest(parts)
        yield Flag(
            "never rests", worst, softest.name, speed, config.resting,
            f"After {runs[worst]['seconds']:.1f} s of '{worst}' it still moves by {speed:.0%} of its size in a second "
            f"and does not slow down: does {softest.words} need {softest.other('stiffer')}",
        )  # fmt: skip


def _part(runs: Runs, part: TriedPart, config: LimitConfig) -> Iterator[Flag]:
    """What is implausible about one part, each kind by the run that shows it most."""
    seen = {name: run["parts"][part.name] for name, run in runs.items() if part.name in run["parts"]}
    if not seen or part.flows:
        return
    if part.is_soft:
        yield from _flows(seen, part, config)
        yield from _gives(seen, part, config)
    else:
        name, value = _worst(seen, "bend")
        sentence = f"{part.words} bends by {value:.0%} of its size in '{name}' though it is stiff"
        yield from _over("bends", name, part, value, config.bend, sentence)
    name, value = _worst(seen, "stretch")
    takes = config.takes(part.family)
    if takes is not None:
        sentence = f"{part.words} is stretched by {value:.0%} in '{name}', and {part.family} takes {takes:.0%}"
        yield from _over("tears", name, part, value, takes, sentence)
    name, value = _worst(seen, "apart")
    sentence = f"{part.words} leaves what it touches by {value:.1%} of the object's size in '{name}'"
    yield from _over("comes apart", name, part, value, config.apart, sentence)


def _flows(seen: Runs, part: TriedPart, config: LimitConfig) -> Iterator[Flag]:
    flattest, squash = min(((name, run["squash"][1]) for name, run in seen.items()), key=lambda item: item[1])
    widest, spread = max(((name, run["spread"][1]) for name, run in seen.items()), key=lambda item: item[1])
    if squash < config.flat:
        sentence = f"{part.words} ends '{flattest}' at {squash:.0%} of its extent"
        yield from _under("flows", flattest, part, squash, config.flat, sentence)
    else:
        sentence = f"{part.words} ends '{widest}' at {spread:.0%} of its extent"
        yield from _over("flows", widest, part, spread, config.spread, sentence)


def _gives(seen: Runs, part: TriedPart, config: LimitConfig) -> Iterator[Flag]:
    """Whether something soft moves like a block of stone."""
    if part.material.young <= config.yielding:
        most = max(max(run["stretch"][0], 1.0 - run["squash"][0], run["bend"][0]) for run in seen.values())
        sentence = f"{part.words} gives way by only {most:.2%} in any of the runs though it is soft"
        yield from _under("does not give", "drop", part, most, config.gives, sentence, "softer")


def _worst(seen: Runs, key: str) -> tuple[str, float]:
    return max(((name, run[key][0]) for name, run in seen.items()), key=lambda item: item[1])
