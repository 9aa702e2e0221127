"""Items of a data set as bytes: the asset in compact form, and the subject that training reads.

Positions of a mesh are kept in float32 and motion in steps of a 65,534th of its largest displacement, stored as changes
from frame to frame; that is finer than any simulation is true and a quarter of the size.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from neurok.core import Asset
from neurok.data.subject import FrameMotion, JointMotion, Subject
from neurok.errors import FormatError, brief
from neurok.io import archive
from neurok.io.npz_arrays import pack, unpack

_WHERE = Path("item.npz")
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading damaged arrays raises."""


def encode_asset(asset: Asset) -> bytes:
    """The asset without what rounding to float32 loses."""
    arrays = unpack(next(iter(archive.write(asset, _WHERE).values())), _WHERE)
    small = {}
    for name, array in arrays.items():
        if name.startswith("clip") and name.endswith("_positions"):
            small.update(_pack_motion(name, array))
        elif array.dtype == np.float64:
            small[name] = array.astype(np.float32)
        elif array.dtype == np.int64 and array.size:
            small[name] = array.astype(
                np.min_scalar_type(int(array.max()) if array.min() >= 0 else -int(abs(array).max()) - 1)
            )
        else:
            small[name] = array
    return pack(small)


def decode_asset(data: bytes) -> Asset:
    """The asset of an item."""
    try:
        return _decode_asset(data)
    except DAMAGE as error:
        raise FormatError(f"An item of the data set is damaged ({brief(str(error))}); build it again.") from error


def _decode_asset(data: bytes) -> Asset:
    arrays = unpack(data, _WHERE)
    for name in [n for n in arrays if n.endswith("_positions_steps")]:
        stem = name.removesuffix("_steps")
        steps = np.cumsum(arrays.pop(name).astype(np.int64), axis=0)
        arrays[stem] = steps * float(arrays.pop(f"{stem}_unit")) + arrays.pop(f"{stem}_first").astype(np.float64)
    return archive.from_arrays(arrays, _WHERE)


def _pack_motion(name: str, positions: np.ndarray) -> dict[str, np.ndarray]:
    first = positions[0].astype(np.float32)
    offsets = positions - first.astype(np.float64)
    unit = max(float(np.abs(offsets).max()) / 32767, 1e-12)
    steps = np.rint(offsets / unit).astype(np.int32)
    changes = np.diff(steps, axis=0, prepend=0)
    fits = np.abs(changes).max() <= 32767
    return {
        f"{name}_steps": changes.astype(np.int16 if fits else np.int32),
        f"{name}_unit": np.array(unit),
        f"{name}_first": first,
    }


def encode_subject(subject: Subject) -> bytes:
    """What training reads of an item."""
    header = {"up": subject.up, "name": subject.name}
    arrays = {
        "points": subject.points,
        "blend_index": subject.blend_index.astype(np.uint8),
        "blend_weight": subject.blend_weight.astype(np.float16),
        "groups": subject.groups.astype(np.int8),
        "areas": subject.areas,
    }
    motion = subject.motion
    if isinstance(motion, FrameMotion):
        arrays |= _pack_motion("frames", motion.frames)
    else:
        for name in (
            "is_turn",
            "is_slide",
            "parents",
            "axes",
            "origins",
            "lower",
            "upper",
            "point_parts",
            "handle_parts",
        ):
            arrays[name] = getattr(motion, name)
        arrays["order"] = np.array(motion.order)
    text = json.dumps(header, sort_keys=True).encode()
    return pack({"header": np.frombuffer(text, dtype=np.uint8), **arrays})


def decode_subject(data: bytes) -> Subject:
    """The subject of an item."""
    try:
        return _decode_subject(data)
    except DAMAGE as error:
        raise FormatError(f"An item of the data set is damaged ({brief(str(error))}); build it again.") from error


def _decode_subject(data: bytes) -> Subject:
    arrays = unpack(data, _WHERE)
    header = json.loads(arrays["header"].tobytes())
    motion: JointMotion | FrameMotion
    if "frames_steps" in arrays:
        steps = np.cumsum(arrays["frames_steps"].astype(np.int64), axis=0)
        motion = FrameMotion((steps * float(arrays["frames_unit"]) + arrays["frames_first"]).astype(np.float32))
    else:
        plain = {name: arrays[name] for name in ("is_turn", "is_slide", "axes", "origins", "lower", "upper")}
        whole = {name: arrays[name].astype(np.int64) for name in ("parents", "point_parts", "handle_parts")}
        motion = JointMotion(**plain, **whole, order=tuple(arrays["order"].tolist()))
    weights = arrays["blend_weight"].astype(np.float32)
    return Subject(
        arrays["points"],
        arrays["blend_index"].astype(np.int16),
        weights / weights.sum(axis=-1, keepdims=True),
        arrays["groups"].astype(np.int64),
        arrays["areas"],
        motion,
        int(header["up"]),
        str(header["name"]),
    )
