"""Examples of pieces whose bodies are known: annotated objects without their parts, and things that stand still."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int

from neurok.articulation.features import PartClouds
from neurok.core import Articulation, Joint, Mesh
from neurok.io.files import read_bytes
from neurok.train.articulation_versions import posed
from neurok.train.example_cache import make_once
from neurok.train.pieces_versions import FORMS, Form, PieceDataConfig, drawn_pieces, plain_pieces

Source = Literal["real", "generated", "static"]
SOURCES: tuple[Source, ...] = ("real", "generated", "static")
VERSION = 4
"""Of prepared examples; those of others are made anew."""


@dataclass(frozen=True)
class PieceThing:
    """An object that becomes examples when its turn comes."""

    name: str
    source: Source
    load: Callable[[], tuple[Mesh, tuple[Joint, ...] | None]]
    """The mesh, and its joints unless it stands still."""


@dataclass(frozen=True, eq=False)
class PieceExample:
    """The pieces of one version of an object, and the truth about them."""

    name: str
    clouds: PartClouds
    bodies: Int[np.ndarray, " P"]
    """Body of each piece; 0 is the base."""

    moves: Int[np.ndarray, " P"]
    """``STATIC``, ``TURNS`` or ``SLIDES``."""

    source: Source

    @property
    def object(self) -> str:
        return self.name.rsplit(".", 1)[0]


def make_examples(thing: PieceThing, config: PieceDataConfig) -> list[PieceExample]:
    """Versions of an object; the same name gives the same ones."""
    mesh, joints = thing.load()
    rng = np.random.default_rng(int(hashlib.sha256(thing.name.encode()).hexdigest()[:12], 16))
    found = [plain_pieces(mesh, joints)]
    count, handles = (some[SOURCES.index(thing.source)] for some in (config.versions, config.handles))
    for version in range(1, count):
        shape, links = mesh, joints
        if links is not None and rng.random() < config.posed:
            shape, links = posed(Articulation(mesh, links), rng)
        found.append(drawn_pieces(shape, links, rng, config, version >= count - handles))
    names = (f"{thing.name}.{number}" for number in range(len(found)))
    source: Source = "static" if joints is None else thing.source
    return [PieceExample(name, *one, source) for name, one in zip(names, found, strict=True) if one is not None]


def plain_examples(thing: PieceThing, forms: Sequence[Form] = FORMS) -> list[PieceExample]:
    """An object as its file has it in several forms, called by their names; what has one piece is left out."""
    mesh, joints = thing.load()
    forms = [form for form in forms if form != "named" or mesh.part_ids is not None]
    found = [(form, plain_pieces(mesh, joints, form)) for form in forms]
    return [PieceExample(f"{thing.name}.{form}", *one, thing.source) for form, one in found if one is not None]


def prepare(
    things: Iterable[PieceThing],
    config: PieceDataConfig | None,
    cache: Path,
    report: Callable[[str], None] | None = None,
) -> Iterator[PieceExample]:
    """Examples, computed once and kept in a folder; objects that fail are told and left out. Without a configuration
    they are as their files have them, in all forms."""
    for thing in things:
        path = cache / f"{thing.source}.{thing.name}.{VERSION}{'.plain' if config is None else ''}.npz"
        make = partial(plain_examples, thing) if config is None else partial(make_examples, thing, config)
        make_once(path, make, encode, thing.name, report)
        yield from decode(path)


def encode(examples: list[PieceExample]) -> bytes:
    """Examples as one NPZ file."""
    arrays: dict[str, np.ndarray] = {"names": np.array([example.name for example in examples], dtype=str)}
    for k, example in enumerate(examples):
        arrays |= {f"{k}.bodies": example.bodies, f"{k}.moves": example.moves, f"{k}.source": np.array(example.source)}
        for field in fields(example.clouds):
            value = np.asarray(getattr(example.clouds, field.name))
            arrays[f"{k}.{field.name}"] = value.astype(np.float32) if value.dtype == np.float64 else value
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def decode(path: Path) -> list[PieceExample]:
    with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as arrays:
        found = []
        for k, name in enumerate(arrays["names"]):
            clouds = {field.name: arrays[f"{k}.{field.name}"] for field in fields(PartClouds)}
            clouds["scale"] = float(clouds["scale"])
            truth = arrays[f"{k}.bodies"], arrays[f"{k}.moves"]
            found.append(PieceExample(str(name), PartClouds(**clouds), *truth, str(arrays[f"{k}.source"])))  # type: ignore[arg-type]
        return found
