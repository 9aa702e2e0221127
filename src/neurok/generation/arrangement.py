"""Words of a whole scene: which objects there are, how they stand to each other, and what happens to them.

"a desk with a lamp and an open laptop on it, a chair in front" is read from left to right into noun phrases, relations
and verbs. What can be generated is decided by the same lexicon as for one object; a noun that is a part of the object
before it ("a cabinet with two doors") stays with that object's own prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from neurok.catalogue.vocabulary import CATEGORIES, article
from neurok.errors import NeurokError, counted
from neurok.generation import sentence_states
from neurok.generation.lexicon import Span, can_have, read
from neurok.generation.request import category_of

Relation = Literal["on", "in", "under", "front", "behind", "left", "right", "beside", "wall"]
Motion = Literal["open", "fall", "push"]
Named = TypeVar("Named", Relation, Motion)

MOST_OBJECTS = 24
"""Of one scene; more is a slip of the pen, or a long wait."""

MOST_WORDS = 400
"""Of a scene, as of one object."""

_RELATIONS: tuple[tuple[str, Relation], ...] = (
    ("on top of", "on"),
    ("to the left of", "left"),
    ("on the left of", "left"),
    ("to the right of", "right"),
    ("on the right of", "right"),
    ("to the left", "left"),
    ("on the left", "left"),
    ("to the right", "right"),
    ("on the right", "right"),
    ("left of", "left"),
    ("right of", "right"),
    ("in front of", "front"),
    ("in front", "front"),
    ("against the wall", "wall"),
    ("at the wall", "wall"),
    ("along the wall", "wall"),
    ("next to", "beside"),
    ("beside", "beside"),
    ("near", "beside"),
    ("by", "beside"),
    ("behind", "behind"),
    ("facing", "front"),
    ("opposite", "front"),
    ("inside", "in"),
    ("into", "in"),
    ("in", "in"),
    ("underneath", "under"),
    ("beneath", "under"),
    ("below", "under"),
    ("under", "under"),
    ("on", "on"),
    ("upon", "on"),
)
_MOTIONS: tuple[tuple[str, Motion], ...] = (
    ("swings open", "open"),
    ("slides open", "open"),
    ("opens", "open"),
    ("is opened", "open"),
    ("falls off", "fall"),
    ("falls down", "fall"),
    ("falls", "fall"),
    ("drops", "fall"),
    ("tumbles down", "fall"),
    ("is pushed", "push"),
    ("is shoved", "push"),
    ("slides away", "push"),
)
_ALONE: frozenset[Relation] = frozenset({"front", "behind", "left", "right", "beside", "wall"})
"""Relations that may leave out to what: "a chair in front"."""

_PRONOUNS = frozenset({"it", "them", "this", "that"})
_FLOOR = frozenset({"floor", "ground", "wall", "room"})
_LINKS = frozenset(
    {"and", "with", "of", "is", "are", "there", "stands", "lies", "sits", "standing", "lying", "sitting"}
)
_ENDS = frozenset({phrase.split()[0] for phrase, _ in _RELATIONS} | {"and", "with", "without", "is", "are"}) - {"left"}
"""Words that end what is said of a part."""

_ARTICLES = frozenset({"a", "an", "the", "one", "another", "some"})


@dataclass(frozen=True)
class ArrangedObject:
    """One object of a scene, as it is asked for."""

    name: str
    """Unique in the scene."""

    category: str
    prompt: str
    """What the generator is asked for."""

    relation: Relation | None = None
    """How it stands to ``target``; nothing for what the others are arranged around."""

    target: int | None = None
    """Number of that object; nothing for the room itself."""

    is_open: bool = False
    """Whether its doors, drawers or lid are open at the start."""


@dataclass(frozen=True)
class ArrangedMotion:
    """What happens to an object."""

    subject: int
    motion: Motion
    part: str = ""
    """The part that is named, such as the door of a fridge."""


@dataclass(frozen=True)
class Arrangement:
    """A scene in words that were understood."""

    text: str
    objects: tuple[ArrangedObject, ...]
    motions: tuple[ArrangedMotion, ...] = ()
    unread: tuple[str, ...] = ()
    """Words between objects that mean nothing here; those within a phrase are judged with its object."""


@dataclass
class _Noun:
    """A noun phrase that is being read."""

    category: str
    words: list[str]
    count: int = 1
    is_definite: bool = False
    is_open: bool = False


class _SceneReader:
    """Reads spans from left to right; keeps which objects still stand nowhere."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self.at = 0
        self.objects: list[ArrangedObject] = []
        self.motions: list[ArrangedMotion] = []
        self.unread: list[str] = []
        self.loose: list[int] = []
        """Objects without a relation, other than the anchor."""
        self.anchor: int | None = None
        """What "it" and relations without a target mean."""
        self.latest: int | None = None
        """The target of the relation before: "a vase in a box under a table"."""
        self.clauses: list[int] = []
        """In which clause each object was named first."""
        self.waiting: tuple[Relation, int | None] | None = None
        """A relation that was said before its subject: "on the desk stands a lamp"."""
        self.carries = False
        """Whether loose objects came after "with": they are on the anchor unless something else is said."""

    def read(self) -> None:
        while self.at < len(self.spans):
            if self.at and self.spans[self.at].clause != self.spans[self.at - 1].clause:
                self.waiting = None
            step = self._relation() or self._object() or self._word()
            assert step
        self._settle()

    def _words(self, most: int = 4) -> list[str]:
        """The next words of this clause."""
        clause = self.spans[self.at].clause if self.at < len(self.spans) else -1
        near = [span for span in self.spans[self.at : self.at + most] if span.clause == clause]
        return [word for span in near for word in span.words]

    def _phrase(self, phrases: Sequence[tuple[str, Named]]) -> tuple[Named, int] | None:
        """The meaning of the phrase that comes next, and how many spans it has."""
        words = self._words()
        for phrase, meaning in phrases:
            known = phrase.split()
            if words[: len(known)] == known:
                return meaning, len(known)
        return None

    def _relation(self) -> bool:
        found = self._phrase(_RELATIONS)
        if found is None:
            return False
        start, relation = self.at, found[0]
        self.at += found[1]
        following = self._words(3)
        bare = [word for word in following if word not in _ARTICLES]
        if bare and bare[0] in _FLOOR:
            self.at += following.index(bare[0]) + 1
            self._relate("wall" if bare[0] == "wall" else relation, None, on_floor=bare[0] != "wall")
            return True
        if following and following[0] in _PRONOUNS:
            self.at += 1
            self._relate(relation, self.anchor)
            return True
        is_followed = self.at < len(self.spans) and self.spans[self.at].clause == self.spans[start].clause
        noun = self._noun() if is_followed and relation != "wall" else None
        if noun is not None:
            self._relate(relation, self._reference(noun))
        elif relation in _ALONE:
            self._relate(relation, None if relation == "wall" else self.anchor)
        else:
            self.at = start
            return False
        return True

    def _relate(self, relation: Relation, target: int | None, on_floor: bool = False) -> None:
        """Say how all objects stand that stand nowhere yet; with none, the one just named, or what comes next."""
        clause = self.spans[self.at - 1].clause
        subjects = [number for number in self.loose if number != target]
        others = {self.anchor, self.latest} if not subjects else {self.anchor}
        subjects += [k for k in others if k is not None and self._may_stand(k, target, clause)]
        self.loose = [number for number in self.loose if number not in subjects]
        self.latest = target
        if on_floor:
            return
        if not subjects:
            self.waiting = (relation, target)
            return
        for number in subjects:
            self.objects[number] = replace(self.objects[number], relation=relation, target=target)
        if self.anchor in subjects and target is not None:
            self.anchor = target

    def _may_stand(self, number: int, target: int | None, clause: int) -> bool:
        """Whether an object of this clause still stands nowhere; what carries others does, unless it was just named."""
        is_free = number != target and self.objects[number].relation is None and self.clauses[number] == clause
        return is_free and (number == self.latest or not any(one.target == number for one in self.objects))

    def _object(self) -> bool:
        noun = self._noun()
        if noun is None:
            return False
        motion = self._phrase(_MOTIONS)
        if motion is not None and noun.is_definite:
            self.at += motion[1]
            subject, part = self._moved(noun)
            self.motions.append(ArrangedMotion(subject, motion[0], part))
            return True
        known = self._known(noun) if noun.is_definite else None
        if known is not None:
            if known != self.anchor and known not in self.loose:
                self.anchor = known
            return True
        for number in self._introduce(noun):
            if self.waiting is not None:
                relation, target = self.waiting
                self.objects[number] = replace(self.objects[number], relation=relation, target=target)
            elif self.anchor is None:
                self.anchor = number
            else:
                self.loose.append(number)
        return True

    def _word(self) -> bool:
        span = self.spans[self.at]
        self.at += 1
        if span.text == "with":
            self._settle()
            self.carries = True
        elif not set(span.words) <= _LINKS | _ARTICLES | _PRONOUNS:
            self.unread.append(span.text)
        return True

    def _settle(self) -> None:
        """What was said to be with the anchor is on it; anything else that stands nowhere is beside it."""
        for number in self.loose:
            relation: Relation = "on" if self.carries else "beside"
            self.objects[number] = replace(self.objects[number], relation=relation, target=self.anchor)
        self.loose, self.carries = [], False

    def _noun(self) -> _Noun | None:
        """The noun phrase that begins here, with what follows it of the same object; nothing if none does."""
        begin, head, number, opened = self.at, None, 1, False
        definite = self.at < len(self.spans) and self.spans[self.at].words[0] == "the"
        for k in range(begin, len(self.spans)):
            span = self.spans[k]
            if span.clause != self.spans[begin].clause or (k > begin and span.words[0] in _ARTICLES | _LINKS):
                break
            if category_of(span):
                head = k
            elif head is not None:
                break
            elif span.values("number"):
                number = int(span.values("number")[0])
            opened |= span.text == "open"
        if head is None:
            return None
        category = category_of(self.spans[head])
        words = [word for span in self.spans[begin:head] for word in span.words if not span.values("number")]
        words = [word for word in words if word not in _ARTICLES and word != "open"]
        words += [category] if self.spans[head].is_plural else self.spans[head].words
        self.at = head + 1
        words += self._own_parts(category)
        return _Noun(category, words, number, definite, opened)

    def _own_parts(self, category: str) -> list[str]:
        """Words after a noun that say of what it is made and which parts it has, up to what is said of others."""
        out: list[str] = []
        while self.at < len(self.spans):
            span, clause = self.spans[self.at], self.spans[self.at - 1].clause
            if span.clause != clause or span.text not in ("with", "made", "of", "on", "in", "and", "without"):
                break
            end = self.at + 1
            while end < len(self.spans) and self.spans[end].clause == clause and not self._ends_part(end, category):
                end += 1
            is_cut = (
                end < len(self.spans) and self.spans[end].clause == clause and self._is_other(self.spans[end], category)
            )
            if is_cut or not any(one.meanings for one in self.spans[self.at + 1 : end]):
                break
            out += [word for one in self.spans[self.at : end] for word in one.words]
            self.at = end
        return out

    def _ends_part(self, k: int, category: str) -> bool:
        span = self.spans[k]
        return span.words[0] in _ENDS or self._is_other(span, category)

    @staticmethod
    def _is_other(span: Span, category: str) -> bool:
        """Whether a word names an object of its own rather than a part of this one."""
        return bool(category_of(span)) and not any(can_have(category, part) for part in span.values("part"))

    def _introduce(self, noun: _Noun) -> Iterator[int]:
        """New objects of a phrase."""
        if len(self.objects) + noun.count > MOST_OBJECTS:
            raise NeurokError(f"The scene has more than {MOST_OBJECTS} objects; describe it in several scenes.")
        for _ in range(noun.count):
            taken = sum(one.category == noun.category for one in self.objects)
            name = noun.category.replace(" ", "_") + (f"_{taken + 1}" if taken else "")
            prompt = article(" ".join(noun.words))
            self.objects.append(ArrangedObject(name, noun.category, prompt, is_open=noun.is_open))
            self.clauses.append(self.spans[self.at - 1].clause)
            yield len(self.objects) - 1

    def _reference(self, noun: _Noun) -> int:
        """The object that a phrase after a relation means: one that was named, or a new one."""
        known = self._known(noun) if noun.is_definite else None
        return next(iter(self._introduce(noun))) if known is None else known

    def _known(self, noun: _Noun) -> int | None:
        return next((k for k, one in reversed(list(enumerate(self.objects))) if one.category == noun.category), None)

    def _moved(self, noun: _Noun) -> tuple[int, str]:
        """Whom a verb is about: an object, or a part of one."""
        known = self._known(noun)
        if known is not None:
            return known, ""
        owners = [k for k, one in enumerate(self.objects) if can_have(one.category, noun.category)]
        if not owners:
            raise NeurokError(f"'the {' '.join(noun.words)}' moves, but nothing in the scene is or has one.")
        return owners[0], noun.category


def arrangement_of(text: str) -> Arrangement:
    """Objects, relations and motions of a scene in words.

    Raises:
        NeurokError: If it names nothing that can be made.
    """
    spans = read(text, sentence_states.language(), MOST_WORDS)
    reader = _SceneReader(spans)
    reader.read()
    if not reader.objects:
        raise NeurokError(
            f"No word of the scene names anything that can be made. It can make: {', '.join(CATEGORIES)}."
        )
    return Arrangement(text, tuple(reader.objects), tuple(reader.motions), tuple(reader.unread))


def summary(arrangement: Arrangement) -> str:
    """Who stands where, in one line."""
    said = []
    for one in arrangement.objects:
        where = {None: "", "wall": " at the wall"}.get(one.relation)
        if where is None:
            target = "" if one.target is None else f" {arrangement.objects[one.target].name}"
            where = f" {one.relation}{target}"
        said.append(f"{one.name}{where}")
    return f"{counted(len(said), 'object')}: {', '.join(said)}"
