"""The verb ``generate``: words or a picture in, objects with parts, colours, materials and joints out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from neurok.catalogue.appearance import colour_words, rgb_of, shades
from neurok.catalogue.assemble import placed_anew
from neurok.catalogue.asset import asset_of
from neurok.catalogue.captions import main_part
from neurok.catalogue.parts import Assembly
from neurok.catalogue.prompts import PromptVerdict, judge
from neurok.catalogue.record import assembly_of, record_of
from neurok.catalogue.vocabulary import CATEGORIES, article
from neurok.core import Asset
from neurok.errors import DoubtfulPictureError, NeurokError
from neurok.generation import sentence_states
from neurok.generation.attachment import FAR, Attached, attach
from neurok.generation.context import Conditioning, conditioning_of, words_of
from neurok.generation.edit_request import MORE, RESIZES
from neurok.generation.editing import in_colour, of_material
from neurok.generation.features import with_features
from neurok.generation.lexicon import WHOLE, Span, read, split_words
from neurok.generation.list_drawing import draw_lists, request_for
from neurok.generation.numbers import WIDTH, part_of
from neurok.generation.part_list import Lists
from neurok.generation.photo import Photo, read_photo
from neurok.generation.picture_fit import Fitting, Points, Pose, colours_seen, expected_pose, painted, stretched
from neurok.generation.picture_reader import PictureReader
from neurok.generation.request import Request, category_span, request_of, strange_noun
from neurok.generation.reshaping import resized
from neurok.generation.silhouettes import known_outlines
from neurok.generation.word_use import WordUse, word_uses
from neurok.generation.writing import Generator, Written, list_words, rows_of
from neurok.hub import load_model


@dataclass(frozen=True)
class GenerateConfig:
    """How objects are asked for and chosen."""

    lists: int = 8
    """Lists that are drawn for one object; the one that fits the words best is filled."""

    tries: int = 4
    """Times that numbers are written, until parts meet without being moved far; the second and every other time the
    flow goes on from where the parts were put, the third time it takes another list that fits the words as well."""

    far: float = FAR
    """How far parts may be moved to meet [shares of the object's longest side] before another try is made."""


ALIKE = 0.05  # how much less fit another list may be
FORCED = 0.4  # what a part that the list would not have had by itself takes from its fitness; a wish counts one
TRIED = 10  # known objects that are fitted to a picture
SEARCHED = 60  # known objects among which one with the parts that words ask for is looked for

LONGEST = 2000  # characters of a prompt
WORDS = 400  # words that the rules read; the networks read the first 64
MOST = 64  # objects of one call
GENERATE = GenerateConfig()

READER = "pictures"
"""Weights of the reader of pictures."""

LIST = "assembly"
"""Where the provenance of what was generated holds its list of parts, as JSON."""


@dataclass(frozen=True, eq=False)
class Generated:
    """One object, and what is known of how it came about."""

    asset: Asset
    assembly: Assembly
    seed: int
    request: Request
    verdict: PromptVerdict
    words: tuple[WordUse, ...]
    """What became of each word; of those in no table the sentence encoder may still have made something."""

    moved: float
    """How far parts had to move to meet [shares of the longest side]."""

    bodies: int
    """Pieces that the union of all parts falls into; 1 is whole."""

    notes: tuple[str, ...] = ()
    seen: tuple[tuple[str, float], ...] = ()
    """The likeliest categories of a picture, and how probable they are."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """Words that are in no table."""
        return tuple(use.word for use in self.words if use.outcome == "unknown")

    def report(self) -> dict[str, Any]:
        """Figures for people and programs."""
        parts = [
            {
                "part": part.name,
                "count": part.repeat.total,
                "colour": part.appearance.colour,
                "material": part.appearance.visible_material,
                **({"joint": part.hinge.kind} if part.hinge else {}),
            }
            for part in self.assembly.parts
        ]
        constraints = self.request.prompt("", self.assembly.category).constraints
        missed = [
            constraint.part
            for constraint, is_there in zip(constraints, self.verdict.present, strict=True)
            if not is_there
        ]
        return {
            "category": self.assembly.category,
            "style": list(self.assembly.style),
            "seed": self.seed,
            "parts": parts,
            "understood": [use.word for use in self.words if use.outcome != "unknown"],
            "not_understood": list(self.ignored),
            "not_done": {use.word: use.reason for use in self.words if use.outcome == "missed"},
            "missing_parts": missed,
            "moved": self.moved,
            "bodies": self.bodies,
            "notes": list(self.notes),
            **({"seen": dict(self.seen)} if self.seen else {}),
        }


def generate(
    text: str = "",
    image: str | Path | Photo | None = None,
    *,
    count: int = 1,
    seed: int = 0,
    weights: str | Path = "generation",
    best: bool = False,
    config: GenerateConfig = GENERATE,
) -> list[Generated]:
    """Objects as words or a picture describe them; both may be given.

    Args:
        text: What to make, such as ``a red velvet sofa on oak legs``.
        image: A photograph or drawing of one object (PNG, JPEG or WebP).
        count: How many different objects.
        seed: Same seed, same objects.
        weights: Trained weights.
        best: Take the likeliest category of a picture however little likely it is.

    Raises:
        NeurokError: If nothing that can be made is asked for; the sentence lists what can.
        DoubtfulPictureError: If it is not clear what a picture shows, and no word says so.
    """
    ask = understand(text, image)
    check_count(count)
    if ask.photo is not None and not (best or ask.request.category):
        check_doubt(ask.photo)
    model = load_model(weights, "generation")
    found = [] if ask.photo is None else alike(ask, ask.photo, seed + count)
    if ask.photo is not None and not found:
        ask = replace(ask, notes=(*ask.notes, "No known object has these parts: only the words were used."))
    made = [_fitted(found[(seed + k) % len(found)], ask, seed + k) if found else None for k in range(count)]
    return [one or _one(model, ask, seed + number, config) for number, one in enumerate(made)]


def picture_reader() -> PictureReader:
    """The shipped reader of pictures."""
    return load_model(READER, "pictures")


def check_doubt(photo: Photo) -> None:
    """Refuse a picture of which it is not clear what it shows."""
    likeliest = photo.reading.likeliest
    if likeliest[0][1] < picture_reader().config.asks_below:
        said = ", ".join(f"{category} {share:.0%}" for category, share in likeliest)
        raise DoubtfulPictureError(
            f"It is not clear what the picture shows ({said}); say so with --text "
            f'"{article(likeliest[0][0])}", or go on with the likeliest with --best.'
        )


def check_count(count: int) -> None:
    """Refuse to make no or too many objects."""
    if not 1 <= count <= MOST:
        raise NeurokError(f"{count} objects were asked for; ask for 1 to {MOST} at a time.")


@dataclass(frozen=True, eq=False)
class PromptReading:
    """A prompt that was read and found to ask for something."""

    text: str
    spans: tuple[Span, ...]
    request: Request
    photo: Photo | None
    notes: tuple[str, ...]

    def batch(self, count: int, text: str | None = None) -> Conditioning:
        """The same prompt, or another text, so many times."""
        text = self.text if text is None else text
        words = words_of([text])[0] if split_words(text) else None
        return conditioning_of([words] * count)

    @property
    def plain(self) -> str | None:
        """The text without the words that say how named parts look; nothing when there are none."""
        if not self.request.bound:
            return None
        words = split_words(self.text)
        return " ".join(word for number, word in enumerate(words) if number not in self.request.bound)


def understand(text: str, image: str | Path | Photo | None) -> PromptReading:
    """Read a prompt; refuse what asks for nothing that can be made."""
    if len(text) > LONGEST:
        raise NeurokError(
            f"The prompt has {len(text)} characters; at most {LONGEST} are read. "
            "Say what the object is, its parts, colours and materials."
        )
    photo = image if image is None or isinstance(image, Photo) else read_photo(image, picture_reader())
    spans = tuple(read(text, sentence_states.language(), WORDS))
    known = any(span.meanings for span in spans)
    possible = f"It can make: {', '.join(CATEGORIES)}; with parts, colours, materials and counts."
    if photo is None and not split_words(text):
        raise NeurokError(f"Nothing was asked for; say what to make with --text or --image. {possible}")
    if photo is None and not known:
        given = text if len(text) <= 60 else text[:57] + "..."
        raise NeurokError(f"No word of '{given}' names anything that can be made. {possible} Ask in English.")
    notes = [] if photo is None or not photo.note else [photo.note]
    if spans and not sentence_states.is_installed():
        notes.append("Only words of the tables are understood; pip install 'neurok[text]' reads whole sentences.")
    request = request_of(spans)
    strange = "" if photo is not None or request.category else strange_noun(spans)
    if strange:
        raise NeurokError(f"'{strange}' is nothing that can be made. {possible} Ask in English.")
    if request.category and category_span(spans) is None:
        notes.append(f"No word says what it should be; its parts are those of {article(request.category)}.")
    nouns = [span for span in spans if not span.values("part")]
    named = list(dict.fromkeys(m.value for span in nouns for m in span.meanings[:1] if m.kind == "category"))
    if len(named) > 1 and request.category:
        notes.append(f"Several objects are named ({', '.join(named)}); this is {request.category}, one at a time.")
    return PromptReading(text, spans, request, photo, tuple(notes))


@torch.no_grad()
def _one(model: Generator, ask: PromptReading, seed: int, config: GenerateConfig) -> Generated:
    generator = torch.Generator().manual_seed(seed)
    asked = ask.batch(config.lists)
    plain = None if ask.plain is None else ask.batch(config.lists, ask.plain)
    lists = draw_lists(model.part_list, asked, generator, ask.request, plain)
    scores = _scores(lists, ask)
    order = sorted(range(config.lists), key=scores.__getitem__, reverse=True)
    good = [k for k in order if scores[k] >= scores[order[0]] - ALIKE]
    found: list[Written] = []
    for number in range(config.tries):
        k = good[number // 2 % len(good)]
        one = asked.rows(torch.tensor([k]))
        again = number % 2
        found.append(
            model.refine(found[-1], one, generator) if again else model.fill(rows_of(lists, k), one, generator)
        )
        if found[-1].attached.bodies == 1 and found[-1].attached.moved <= config.far:
            break
    best = min((written.attached for written in found), key=lambda attached: attached.apart)
    best, grown = in_size(replace(best, assembly=true_colours(best.assembly, ask.request)), ask)
    best = replace(best, assembly=with_features(best.assembly, ask.spans, ask.request))
    return handed_out(best, ask.text, seed, ask.request, ask.spans, ask.notes, grown=grown)


def in_size(made: Attached, ask: PromptReading) -> tuple[Attached, list[int]]:
    """The object in the size that was asked for, and the spans that say so: a low bed, a bench with long legs.

    Words of size that are shapes of that category (a tall vase) are choices of the list already.
    """
    grown, targets = list[int](), dict(ask.request.targets)
    for k, span in enumerate(ask.spans):
        after = (targets[one.start] for one in ask.spans[k:] if one.clause == span.clause and one.start in targets)
        target = next(after, WHOLE)
        named = tuple(n for n, part in enumerate(made.assembly.parts) if part.name == target)
        if span.words[0] in RESIZES and (named or target == WHOLE) and len(span.words) == 1:
            if span.meanings and not word_uses([span], ask.request, made.assembly)[0].reason:
                continue
            dimension, sign = RESIZES[span.words[0]]
            other = attach(resized(made.assembly, named, dimension, MORE**sign))
            made = replace(other, moved=max(other.moved, made.moved))
            grown.append(span.start)
    return made, grown


def _scores(lists: Lists, ask: PromptReading) -> list[float]:
    """How good lists are: what they have of what was asked for, less what had to be forced into them."""
    sketches = [sketch_of(lists, k) for k in range(len(lists.whole))]
    forced = [0] * len(sketches) if lists.forced is None else lists.forced.tolist()
    return [fitness(sketch, ask) - FORCED * parts for sketch, parts in zip(sketches, forced, strict=True)]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A known object and how it is seen in a picture."""

    assembly: Assembly
    points: Points
    pose: Pose
    cost: float


def alike(ask: PromptReading, photo: Photo, count: int) -> list[Candidate]:
    """Known objects that fit a picture and have the parts that are asked for, of one category, the best first."""
    reading, known = photo.reading, known_outlines()
    likely = {ask.request.category: 1.0} if ask.request.category else reading.categories
    mask = None if photo.status == "whole" else photo.mask
    ranked = known.ranked(mask, reading, likely)[: SEARCHED if ask.request.parts else max(TRIED, count)]
    objects = [(known.object(one.number), one) for one in ranked]
    if ask.request.category:
        objects = [(assembly, one) for assembly, one in objects if assembly.category == ask.request.category]
    if ask.request.parts or ask.request.without:
        objects = [(assembly, one) for assembly, one in objects if _has_parts(assembly, ask)]
    found = []
    for assembly, one in objects[: max(TRIED, count)]:
        points = Points.of(assembly)
        pose, cost = expected_pose(points, reading), 0.0
        if mask is not None:
            pose, cost = Fitting.of(photo).best(points)
        found.append(Candidate(assembly, points, pose, cost + one.disbelief))
    found.sort(key=lambda one: one.cost)
    return [one for one in found if one.assembly.category == found[0].assembly.category]


def _has_parts(assembly: Assembly, ask: PromptReading) -> bool:
    """Whether an object has the parts and counts of a prompt; colours and materials can be put on."""
    verdict = judge(assembly, ask.request.prompt(ask.text, assembly.category))
    names = {part.name for part in assembly.parts}
    return all((*verdict.present, *verdict.counts, *verdict.styles)) and not names & set(ask.request.without)


def _fitted(one: Candidate, ask: PromptReading, seed: int) -> Generated:
    """A known object in the proportions and colours of a picture, and in those that words say."""
    photo, reader = ask.photo, picture_reader()
    assert photo is not None
    seen = colours_seen(one.assembly, one.points, one.pose, photo.pixels, photo.mask) if photo.status != "whole" else {}
    made = attach(stretched(painted(one.assembly, seen, reader, photo.reading), one.pose))
    if made.bodies > 1:  # better in its own proportions than in two
        made = attach(painted(one.assembly, seen, reader, photo.reading))
    made = replace(made, assembly=true_colours(said_looks(made.assembly, ask.request), ask.request))
    made, grown = in_size(made, ask)
    out = handed_out(made, ask.text, seed, ask.request, ask.spans, ask.notes, grown=grown)
    return replace(out, seen=tuple(photo.reading.likeliest))


def said_looks(assembly: Assembly, request: Request) -> Assembly:
    """The object in the colours and materials that words say of its parts."""
    main, parts, before = assembly.parts[main_part(assembly)].name, [], Counter[str]()
    for part in assembly.parts:
        said = request_for(request, part.name, main, before[part.name])
        before[part.name] += part.repeat.total
        if said is not None and said.materials:
            part = placed_anew(part, appearance=of_material(part, said.materials[0]))
        if said is not None and said.shade:
            part = placed_anew(part, appearance=in_colour(part.appearance, said.shade))
        parts.append(part)
    return replace(assembly, parts=tuple(parts))


def true_colours(assembly: Assembly, request: Request, far: float = 0.12) -> Assembly:
    """The object in the shades that were said; other parts in shades that their colour words allow.

    Args:
        far: Distance in sRGB from the nearest shade of its word beyond which a colour is that shade; seven times the
            spread of colours about their shades in what the networks learn from.
    """
    main, parts, before = assembly.parts[main_part(assembly)].name, [], Counter[str]()
    for part in assembly.parts:
        said = request_for(request, part.name, main, before[part.name])
        before[part.name] += part.repeat.total
        finish, word = part.appearance, "" if said is None else said.shade
        if not word or colour_words()[word] != finish.colour:
            apart = {w: float(np.linalg.norm(np.subtract(rgb_of(w), finish.rgb))) for w in shades(finish.colour)}
            nearest = min(apart, key=apart.__getitem__)
            word = nearest if apart[nearest] > far else ""
        parts.append(replace(part, appearance=replace(finish, shade=word, rgb=rgb_of(word))) if word else part)
    return replace(assembly, parts=tuple(parts))


def handed_out(
    attached: Attached,
    text: str,
    seed: int,
    request: Request,
    spans: Sequence[Span] | None,
    notes: Sequence[str] = (),
    words: Sequence[WordUse] = (),
    grown: Sequence[int] = (),
) -> Generated:
    """What is known of an object whose parts meet; ``words`` where the prompt is no description but an edit."""
    met = replace(attached.assembly, name=f"{attached.assembly.category} {seed}")
    words = tuple(words) if spans is None else word_uses(spans, request, met, grown)
    asset, assembly = listed_asset(met, text, words)
    verdict = judge(assembly, request.prompt(text, assembly.category))
    if spans and not request.category:
        notes = (*notes, f"No word says what it should be; this is {article(assembly.category)}.")
    reasons = dict.fromkeys(use.reason for use in words if use.reason)
    effort = (attached.moved, attached.bodies)
    return Generated(asset, assembly, seed, request, verdict, words, *effort, (*notes, *request.notes, *reasons))


def listed_asset(assembly: Assembly, prompt: str, words: Sequence[WordUse] = ()) -> tuple[Asset, Assembly]:
    """The object for files, which holds its own list of parts, and the object just as it is read from there."""
    record = record_of(assembly)
    assembly = assembly_of(record)
    about = {"source": "neurok generate", "prompt": prompt, LIST: json.dumps(record)}
    for outcome, name in (("unknown", "prompt_words_not_understood"), ("missed", "prompt_words_not_done")):
        some = [use.word for use in words if use.outcome == outcome]
        about |= {name: ", ".join(some)} if some else {}
    return asset_of(assembly, about), assembly


def fitness(assembly: Assembly, ask: PromptReading) -> float:
    """How much of what was asked for a list has: each wish counts one."""
    verdict = judge(assembly, ask.request.prompt(ask.text, assembly.category))
    return float(verdict.category) + sum(verdict.satisfied)


def sketch_of(lists: Lists, number: int) -> Assembly:
    """The object of a list without numbers, enough to judge words."""
    whole, parts = list_words(lists, number)
    return Assembly(whole["category"], tuple(part_of(words, np.zeros(WIDTH), 1.0) for words in parts))
