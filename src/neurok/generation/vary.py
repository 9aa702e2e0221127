"""Objects like a given one, and changes to one that keep what is not named: ``neurok generate --like FILE --edit``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from neurok.catalogue.captions import full_caption
from neurok.catalogue.parts import Assembly
from neurok.catalogue.record import assembly_of
from neurok.core import Asset
from neurok.errors import FormatError, NeurokError
from neurok.generation import sentence_states
from neurok.generation.attachment import Attached, attach
from neurok.generation.context import conditioning_of, words_of
from neurok.generation.edit_request import Reading, read_edit
from neurok.generation.editing import edited
from neurok.generation.photo import Photo, photo_of
from neurok.generation.picture_reader import SIDE
from neurok.generation.pictures import CameraView, take_pictures
from neurok.generation.request import Request
from neurok.generation.verb import (
    GENERATE,
    LIST,
    LONGEST,
    GenerateConfig,
    Generated,
    check_count,
    generate,
    handed_out,
    picture_reader,
)
from neurok.generation.word_use import edit_uses
from neurok.generation.writing import REDRAWING, Generator, Redrawer
from neurok.hub import load_model
from neurok.io import load

VIEW = CameraView(
    azimuth=32.0, elevation=20.0, fov=32.0, margin=0.07, light_turn=40.0, with_sky=False, with_ground=False
)
"""From where a mesh without a list is looked at: from the front and a little above, as things are photographed."""

SEEN = "The file holds no list of parts: it was only looked at, as a picture."


@dataclass(frozen=True, eq=False)
class GivenObject:
    """What is given: an object with its list, or one that can only be looked at."""

    assembly: Assembly | None
    photo: Photo | None = None
    notes: tuple[str, ...] = ()


def vary(
    source: str | Path | Asset | Assembly,
    *,
    edit: str = "",
    text: str = "",
    count: int = 1,
    seed: int = 0,
    weights: str | Path = "generation",
    config: GenerateConfig = GENERATE,
) -> list[Generated]:
    """Objects like a given one or, with ``edit``, the same one changed.

    Args:
        source: An object that was generated, or any other mesh, which is then looked at as a picture.
        edit: What to change: ``make the legs metal``, ``wider``, ``replace the back``. All else is kept.
        text: Colours and materials that variations should have; they keep those of the source otherwise.
        count: How many.
        seed: Same seed, same objects.
        weights: Trained weights.

    Raises:
        NeurokError: If the source cannot be read, or parts are named that it does not have.
    """
    for words in (edit, text):
        if len(words) > LONGEST:
            raise NeurokError(f"The words have {len(words)} characters; at most {LONGEST} are read.")
    check_count(count)
    given = read_source(source)
    reading = _read(edit) if edit else None
    model = load_model(weights, "generation")
    if given.assembly is None:
        assert given.photo is not None
        found = generate(text, given.photo, count=count, seed=seed, weights=weights, best=True, config=config)
        if reading is None:
            return found
        return [_changed(model, one.assembly, reading, text, edit, one.seed, one.notes) for one in found]
    if reading is not None:
        notes = given.notes
        if text:
            notes = (*notes, "With an edit, --text only tells the networks more about the object.")
        return [_changed(model, given.assembly, reading, text, edit, seed + k, notes) for k in range(count)]
    return [_like(model, given.assembly, text, seed + k, given.notes) for k in range(count)]


def read_source(source: str | Path | Asset | Assembly) -> GivenObject:
    """The list of parts that a source holds, or else a picture of it."""
    if isinstance(source, Assembly):
        return GivenObject(source)
    asset = source if isinstance(source, Asset) else load(source)
    note = SEEN
    if LIST in asset.provenance:
        try:
            return GivenObject(assembly_of(json.loads(asset.provenance[LIST])))
        except (FormatError, ValueError, AttributeError, TypeError):
            note = "The list of parts in the file is damaged: it was only looked at, as a picture."
    return GivenObject(None, looked_at(asset, note), (note,))


def looked_at(asset: Asset, note: str = SEEN) -> Photo:
    """A mesh as a picture of it."""
    (picture,) = take_pictures(asset, [VIEW], SIDE)
    if not (picture[..., 3] > 127).any():
        raise NeurokError("Nothing of the mesh can be seen; give one that has faces.")
    return replace(photo_of(picture, picture_reader(), "The mesh"), note=note)


def _read(edit: str) -> Reading:
    reading = read_edit(edit, sentence_states.language())
    if not reading.changes:
        shown = edit if len(edit) <= 60 else edit[:57] + "..."
        raise NeurokError(
            f"No word of '{shown}' says what to change; write it like 'make the legs metal', 'a blue seat', 'wider', "
            "'thicker legs', 'replace the back', 'remove the arms', 'add a cushion' or 'three drawers'."
        )
    return reading


def _redrawer(model: Generator, assembly: Assembly, text: str, seed: int) -> Redrawer:
    asked = conditioning_of(words_of([text or full_caption(assembly)]))
    return Redrawer(model, asked, torch.Generator().manual_seed(seed), REDRAWING)


def _like(model: Generator, source: Assembly, text: str, seed: int, notes: Sequence[str]) -> Generated:
    """A variation; colours and materials of the text are put on it."""
    varied = _redrawer(model, source, text, seed).vary(source)
    reading = Reading((), (), ())
    if text:
        reading = read_edit(text, sentence_states.language())
        looks = [
            replace(c, resizes=(), styles=(), count=None, verb="alter") for c in reading.changes if c.has_appearance
        ]
        try:
            other = edited(varied.assembly, looks, _redrawer(model, source, text, seed)).assembly
            varied = replace(varied, assembly=other)
        except NeurokError as error:
            notes = (*notes, str(error))
    return _handed_out(varied, reading, text, seed, notes)


def _changed(
    model: Generator, source: Assembly, reading: Reading, text: str, edit: str, seed: int, notes: Sequence[str]
) -> Generated:
    done = edited(source, reading.changes, _redrawer(model, source, text, seed))
    attached = attach(done.assembly) if done.is_moved else Attached(done.assembly, 0.0, 1)
    return _handed_out(attached, reading, edit, seed, (*notes, *done.notes))


def _handed_out(attached: Attached, reading: Reading, text: str, seed: int, notes: Sequence[str]) -> Generated:
    request = Request(attached.assembly.category, ())
    words = edit_uses(reading.spans, reading.ignored, attached.assembly)
    return handed_out(attached, text, seed, request, None, notes, words)
