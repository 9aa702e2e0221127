"""Points that are carried by rigid nodes."""

from __future__ import annotations

from neurok.compiled.loops import compiled


@compiled
def places(frames, nodes, rest, out):
    """Where points are ``(n, 3)``, given the transforms of all nodes ``(N, 4, 4)``."""
    for n in range(nodes.shape[0]):
        frame = frames[nodes[n]]
        for i in range(3):
            out[n, i] = frame[i, 0] * rest[n, 0] + frame[i, 1] * rest[n, 1] + frame[i, 2] * rest[n, 2] + frame[i, 3]


@compiled
def velocities(frames, twists, nodes, rest, out):
    """How they move, given the twists of all nodes."""
    places(frames, nodes, rest, out)
    for n in range(nodes.shape[0]):
        twist = twists[nodes[n]]
        x, y, z = out[n, 0], out[n, 1], out[n, 2]
        for i in range(3):
            out[n, i] = twist[i, 0] * x + twist[i, 1] * y + twist[i, 2] * z + twist[i, 3]
