"""Parts that are copies of each other, like the keys of a keyboard: what one of them may do, all may."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.config import COPIES, CopyConfig
from neurok.bodyplan.contacts import ContactGraph


def translated_copies(contacts: ContactGraph, parents: tuple[int, ...], config: CopyConfig = COPIES) -> dict[int, int]:
    """For each part that is a shifted copy of another one, that one; nothing for objects of few parts.

    Copies have the same vertices but for a shift, touch the same carrier in the same place, touch as many parts, and
    carry nothing. Their original is the one in the midst of them, which has neighbours as most of them have.
    """
    if len(contacts.samples) <= config.many:
        return {}
    carries = set(parents)
    families: list[list[int]] = []
    for part, samples in enumerate(contacts.samples):
        if samples is None or parents[part] < 0 or part in carries:
            continue
        family = next((some for some in families if _is_copy(part, some[0], contacts, parents, config)), None)
        if family is None:
            families.append([part])
        else:
            family.append(part)
    found: dict[int, int] = {}
    for family in families:
        shifts = np.stack([translation_between(family[0], part, contacts) for part in family])
        original = family[int(np.linalg.norm(shifts - shifts.mean(axis=0), axis=1).argmin())]
        found |= {part: original for part in family if part != original}
    return found


def translation_between(part: int, other: int, contacts: ContactGraph) -> Float[np.ndarray, "3"]:
    """The way from the vertices of one part to those of its copy."""
    first, second = contacts.samples[part], contacts.samples[other]
    assert first is not None
    assert second is not None
    return np.asarray(second.corners.mean(axis=0) - first.corners.mean(axis=0))


def _is_copy(part: int, other: int, contacts: ContactGraph, parents: tuple[int, ...], config: CopyConfig) -> bool:
    first, second = contacts.samples[part], contacts.samples[other]
    assert first is not None
    assert second is not None
    if parents[part] != parents[other] or first.corners.shape != second.corners.shape:
        return False
    shift = translation_between(part, other, contacts)
    if np.abs(first.corners + shift - second.corners).max() > config.same_shape * contacts.size:
        return False
    mine, its = contacts.between(part, parents[part]), contacts.between(other, parents[other])
    if mine is None or its is None or len(contacts.of(part)) != len(contacts.of(other)):
        return False
    return bool(np.abs(mine.center + shift - its.center).max() <= config.same_contact * contacts.size)
