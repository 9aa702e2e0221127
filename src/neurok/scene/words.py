"""The small languages of ``neurok simulate``: AT:VEC, AT:VEC@START-END and AT:PATH."""

from __future__ import annotations

import contextlib

from neurok.core.select import parse_vector
from neurok.errors import NeurokError
from neurok.scene.description import PUSH_SECONDS, SceneDrag, ScenePush, SceneVelocity, Vector


def parse_push(text: str) -> ScenePush:
    """``AT:x,y,z`` or ``AT:x,y,z@start-end``."""
    at, rest = _split(text, "push", "AT:x,y,z, such as door:0,0,20")
    vector, _, times = rest.partition("@")
    force = parse_vector(vector, f"the force of push {text!r}")
    start, end = _times(times, text) if times else (0.0, PUSH_SECONDS)
    return ScenePush(at, force, start, end)


def parse_velocity(text: str) -> SceneVelocity:
    """``AT:x,y,z``."""
    at, rest = _split(text, "velocity", "AT:x,y,z, such as door:0,0,1")
    return SceneVelocity(at, parse_vector(rest, f"the velocity {text!r}"))


def parse_drag(text: str) -> SceneDrag:
    """``AT:x,y,z;x,y,z`` or ``AT:x,y,z@t;x,y,z@t``."""
    at, rest = _split(text, "drag", "AT:x,y,z;x,y,z, such as door:0,0,0.3")
    points, times = [], []
    for word in rest.split(";"):
        vector, _, time = word.partition("@")
        points.append(parse_vector(vector, f"a point of drag {text!r}"))
        if time:
            times.append(_number(time, text))
    if times and len(times) != len(points):
        raise NeurokError(f"{len(times)} of {len(points)} points of drag {text!r} say when; all or none must.")
    return SceneDrag(at, tuple(points), tuple(times))


def parse_gravity(text: str) -> Vector:
    """``x,y,z``, or ``0`` for none."""
    if text.strip() in ("0", "0.0", "none", "off"):
        return 0.0, 0.0, 0.0
    return parse_vector(text, "the gravity")


def _split(text: str, what: str, example: str) -> tuple[str, str]:
    # Names of parts may hold a colon, vectors never do.
    at, colon, rest = text.rpartition(":")
    if not colon or not at:
        raise NeurokError(f"The {what} {text!r} is not understood; write it like {example}.")
    return at, rest


def _times(text: str, whole: str) -> tuple[float, float]:
    for place in [i for i, letter in enumerate(text) if letter == "-"]:  # 1e-1-2 has two
        with contextlib.suppress(ValueError):
            return float(text[:place]), float(text[place + 1 :])
    raise NeurokError(f"The times of push {whole!r} are not understood; write them like @0-0.5.")


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise NeurokError(f"{text!r} in {whole!r} is not a time in seconds.") from None
