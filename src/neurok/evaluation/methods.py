"""Methods by name; a name is checked before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
from jaxtyping import Float

from neurok.core import Mesh
from neurok.errors import NeurokError, require
from neurok.evaluation import registration, spaces
from neurok.evaluation.as_rigid import rigid_cells_icp
from neurok.evaluation.cases import Case

Method = Callable[[Mesh, Float[np.ndarray, "N 3"], np.random.Generator], Float[np.ndarray, "V 3"]]
"""Rest mesh in its unit box, target points, randomness; gives vertices."""

Mode = Literal["gram", "paper", "none"]

PEERS: dict[str, tuple[Method, str | None]] = {
    "rest": (registration.no_motion, None),
    "rigid": (registration.rigid_icp, None),
    "cpd": (registration.coherent_drift, "pycpd"),
    "arap": (rigid_cells_icp, "igl"),
    "bones": (spaces.bones, None),
}
"""Methods that need nothing but their input, and the package each needs."""

KNOWN = (*PEERS, "pca", "oracle-joints", "neurok[@WEIGHTS][:gram|paper|none][:DIM][:refine]")
DEFAULT = ("rest", "cpd", "arap", "pca", "neurok", "oracle-joints")


@dataclass(frozen=True)
class Entry:
    """A method of a run."""

    label: str
    """The name as it was asked for."""

    key: str
    """The same, with a fingerprint of weights where there are any."""

    make: Callable[[Case], Method | None]
    """The method for one case; None where it does not apply."""


def find_method(name: str, load: Callable[[str | None], Any] | None = None) -> Entry:
    """The method of that name.

    ``neurok`` looks along joints, then in the reduced prior. It takes a reduction and a number of coordinates, as in
    ``neurok:paper:8``, which is then all it looks in, other weights, as in ``neurok@FILE:gram``, and ``neurok:refine``
    lets go of the space in the end. ``load`` turns a file, or None for the weights in the package, into a model.
    """
    if name in PEERS:
        function, package = PEERS[name]
        if package is not None:
            require(package, "peers")
        return Entry(name, name, lambda case: function)
    if name == "oracle-joints":
        return Entry(name, name, _with_joints)
    if name == "pca":
        return Entry(name, name, _with_clips)
    head, *options = name.split(":")
    closer = "refine" in options
    options = [option for option in options if option != "refine"]
    if head.split("@")[0] != "neurok" or len(options) > 2:
        raise NeurokError(f"There is no method {name!r}; known are {', '.join(KNOWN)}.")
    mode, dim = _options(name, options)
    model = (load or load_weights)(head.partition("@")[2] or None)
    method = partial(spaces.learned, model, mode, dim, closer, held_out_weights())
    return Entry(name, f"{name}#{fingerprint(model)}", lambda case: method)


def _options(name: str, options: list[str]) -> tuple[Mode | None, int | None]:
    mode: str | None = None
    dim: int | None = None
    for option in options:
        if option in get_args(Mode):
            mode = option
        elif option.isdigit() and int(option) > 0:
            dim = int(option)
        else:
            raise NeurokError(
                f"{option!r} in {name!r} is no reduction ({', '.join(get_args(Mode))}), no number and not refine."
            )
    return cast("Mode | None", mode), dim


def _with_joints(case: Case) -> Method | None:
    return partial(spaces.true_joints, case.articulation) if case.articulation is not None else None


def _with_clips(case: Case) -> Method | None:
    return partial(spaces.principal_components, case.other_clips) if case.other_clips else None


def held_out_weights() -> dict[str, Any]:
    """The networks behind a plan that have not learned from held-out objects, which all suites are made of."""
    from neurok.evaluation.articulation import TWIN
    from neurok.hub import load_model

    joints, pieces = (load_model(task + TWIN) for task in ("articulation", "pieces"))
    return {"joint_weights": joints, "piece_weights": pieces}


def load_weights(weights: str | None) -> Any:
    from neurok.hub import load_model

    return load_model(weights or "deformation", "deformation")


def fingerprint(model: Any) -> str:
    """A few letters that change with the weights."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        # Spaces run in double precision, which must not make the same weights look like others.
        digest.update(name.encode() + value.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()[:10]
