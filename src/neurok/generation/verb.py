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
from jaxtyping import Float
from torch import Tensor

from neurok.catalogue.appearance import colour_words, rgb_of, shades
from neurok.catalogue.asset import asset_of
from neurok.catalogue.captions import full_caption, main_part
from neurok.catalogue.parts import Assembly
from neurok.catalogue.prompts import PromptVerdict, judge
from neurok.catalogue.record import assembly_of, record_of
from neurok.catalogue.vocabulary import CATEGORIES, article
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.generation import sentence_states
from neurok.generation.attachment import FAR, Attached, attach
from neurok.generation.context import Conditioning, conditioning_of, words_of
from neurok.generation.edit_request import MORE, RESIZES
from neurok.generation.features import with_features
from neurok.generation.lexicon import WHOLE, Span, read, split_words
from neurok.generation.list_drawing import draw_lists, request_for
from neurok.generation.numbers import WIDTH, part_of
from neurok.generation.part_list import Lists, PartListModel
from neurok.generation.photo import Photo, read_photo
from neurok.generation.request import Request, category_span, request_of, strange_noun
from neurok.generation.reshaping import resized
from neurok.generation.silhouettes import colour_of, known_outlines, recoloured, with_appearance_seen
from neurok.generation.word_use import WordUse, word_uses
from neurok.generation.writing import REDRAWING, Generator, Redrawer, Written, list_words, rows_of
from neurok.hub import load_model


@dataclass(frozen=True)
class GenerateConfig:
    """How objects are asked for and chosen."""

    lists: int = 8
    """Lists that are drawn for one object; the one that fits the words best is filled."""

    tries: int = 4
    """Times that numbers are written, until parts meet without being moved far; the second and every other time the
    flow goes on from where the parts were put, the third time it takes another list that fits the words as well."""

    outlines: bool = True
    """Whether a picture alone is read with the help of known objects: the one whose outline is near and whose category
    the network takes for likely has its list and numbers. Otherwise the network writes these, too."""

    far: float = FAR
    """How far parts may be moved to meet [shares of the object's longest side] before another try is made."""


ALIKE = 0.05  # how much less fit another list may be
FORCED = 0.4  # what a part that the list would not have had by itself takes from its fitness; a wish counts one
AGREEMENT = 0.9
"""What counts for a list of a picture that it is like the others that were drawn: what they share is what is seen, what
they do not is guessed."""

LONGEST = 2000  # characters of a prompt
WORDS = 400  # words that the rules read; the networks read the first 64
MOST = 64  # objects of one call
GENERATE = GenerateConfig()

LIKENESS = replace(REDRAWING, given=0.95)
"""How far objects stray from the known one whose outline is that of a picture: less than variations do."""

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
        }


def generate(
    text: str = "",
    image: str | Path | Photo | None = None,
    *,
    count: int = 1,
    seed: int = 0,
    weights: str | Path = "generation",
    config: GenerateConfig = GENERATE,
) -> list[Generated]:
    """Objects as words or a picture describe them; both may be given.

    Args:
        text: What to make, such as ``a red velvet sofa on oak legs``.
        image: A photograph or drawing of one object (PNG, JPEG or WebP).
        count: How many different objects.
        seed: Same seed, same objects.
        weights: Trained weights.

    Raises:
        NeurokError: If nothing that can be made is asked for; the sentence lists what can.
    """
    ask = understand(text, image)
    check_count(count)
    model = load_model(weights, "generation")
    is_compared = config.outlines and ask.photo is not None and not ask.spans
    make = _alike if is_compared else _one
    return [make(model, ask, seed + number, config) for number in range(count)]


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
        """The same prompt, or another text with the same picture, so many times."""
        text = self.text if text is None else text
        words = words_of([text])[0] if split_words(text) else None
        pictures = None
        if self.photo is not None:
            pictures = dict.fromkeys(range(count), self.picture)
        return conditioning_of([words] * count, pictures)

    @property
    def picture(self) -> Float[Tensor, "3 S S"]:
        """What the picture shows, for networks."""
        assert self.photo is not None
        return torch.from_numpy(self.photo.pixels).permute(2, 0, 1).float()

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
    photo = image if image is None or isinstance(image, Photo) else read_photo(image)
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
    alike = agreement(sketches) if ask.photo is not None else [0.0] * len(sketches)
    rows = zip(sketches, forced, alike, strict=True)
    return [fitness(sketch, ask) - FORCED * parts + AGREEMENT * share for sketch, parts, share in rows]


@torch.no_grad()
def categories_seen(model: Generator, ask: PromptReading) -> dict[str, float]:
    """Logarithms of how probable it is that a picture shows each category: as its reader says, or else the list."""
    if model.reader is not None and ask.photo is not None:
        return model.reader.categories(ask.picture)
    return _first_words(model.part_list, ask)


def _first_words(model: PartListModel, ask: PromptReading) -> dict[str, float]:
    """What the list would begin with."""
    context, bias = model.context(ask.batch(1))
    place = model.places(model.start.expand(1, 1, -1), context, bias)[:, -1]
    scores = model.whole.mixes[0](place)[0].log_softmax(dim=-1)
    return dict(zip(model.whole.fields[0].words, scores.tolist(), strict=True))


def _alike(model: Generator, ask: PromptReading, seed: int, config: GenerateConfig) -> Generated:
    """An object like the one in a picture: a variation of a known one, by outline and category, in its colour."""
    assert ask.photo is not None
    pixels = ask.photo.pixels
    source = known_outlines().nearest(pixels, categories_seen(model, ask), seed)
    redrawer = Redrawer(model, ask.batch(1, full_caption(source)), torch.Generator().manual_seed(seed), LIKENESS)
    varied = redrawer.vary(source)
    if model.reader is None:
        seen = recoloured(varied.assembly, colour_of(pixels))
    else:
        seen = with_appearance_seen(varied.assembly, model.reader, ask.picture)
    varied = replace(varied, assembly=seen)
    return handed_out(varied, ask.text, seed, ask.request, ask.spans, ask.notes)


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


def agreement(sketches: Sequence[Assembly]) -> list[float]:
    """How much each object shares with the others: names, colours and materials of parts, 0 to 1."""
    bags = [
        Counter(
            word
            for part in one.parts
            for word in (part.name, (part.name, part.appearance.colour), (part.name, part.appearance.material))
        )
        for one in sketches
    ]
    return [
        sum(2 * (mine & theirs).total() / max(1, mine.total() + theirs.total()) for theirs in bags) / len(bags)
        for mine in bags
    ]


def sketch_of(lists: Lists, number: int) -> Assembly:
    """The object of a list without numbers, enough to judge words."""
    whole, parts = list_words(lists, number)
    return Assembly(whole["category"], tuple(part_of(words, np.zeros(WIDTH), 1.0) for words in parts))
