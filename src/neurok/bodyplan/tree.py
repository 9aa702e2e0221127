"""Which part carries which: the base, and for every other part its parent, from contacts and sizes."""

from __future__ import annotations

import heapq

import numpy as np
from jaxtyping import Float

from neurok.bodyplan.config import TREE, TreeConfig
from neurok.bodyplan.contacts import ContactGraph
from neurok.core.velocity_fields import carried


def find_tree(
    contacts: ContactGraph, up: Float[np.ndarray, "3"], base: int | None = None, config: TreeConfig = TREE
) -> tuple[int, ...]:
    """The parent of each part, -1 for the base, which is found unless it is known; what touches nothing hangs on it."""
    root = find_base(contacts, up, config) if base is None else base
    cost = np.full(len(contacts.samples), np.inf)
    parent = np.full(len(contacts.samples), root)
    parent[root], cost[root] = -1, 0.0
    queue = [(0.0, root)]
    while queue:
        here, part = heapq.heappop(queue)
        if here > cost[part]:
            continue
        for contact in contacts.of(part):
            other = contact.other(part)
            # Weak contacts are long ways: a knob on a door is nearer to the door than to the frame it grazes.
            step = here + 1.0 + config.weak_contact * _weakness(contacts, other, contact.share_of(other))
            if step < cost[other]:
                cost[other], parent[other] = step, part
                heapq.heappush(queue, (step, other))
    return tuple(int(p) for p in parent)


def find_base(contacts: ContactGraph, up: Float[np.ndarray, "3"], config: TreeConfig = TREE) -> int:
    """The part that stays: large, in contact with many, standing on the ground."""
    merits = np.full(len(contacts.samples), -np.inf)
    present = [p for p, samples in enumerate(contacts.samples) if samples is not None]
    if not present:
        return 0
    area = np.array([samples.area if samples is not None else 0.0 for samples in contacts.samples])
    lows = {p: float((contacts.samples[p].points @ up).min()) for p in present}  # type: ignore[union-attr]
    ground = min(lows.values())
    for p in present:
        samples = contacts.samples[p]
        assert samples is not None
        degree = len(contacts.of(p)) / max(1, len(present) - 1)
        stands = max(0.0, 1.0 - config.base_fall * (lows[p] - ground) / contacts.size)
        merits[p] = area[p] / area.sum() + config.base_size * samples.box.size / contacts.size
        merits[p] = merits[p] + config.base_degree * degree + config.base_stands * stands
    return int(np.argmax(merits))


def subtree(parents: tuple[int, ...], part: int) -> tuple[int, ...]:
    """The part and everything it carries."""
    return tuple(carried(list(parents), part))


def _weakness(contacts: ContactGraph, part: int, share: float) -> float:
    strongest = max((c.share_of(part) for c in contacts.of(part)), default=0.0)
    return 1.0 - share / strongest if strongest > 0 else 1.0
