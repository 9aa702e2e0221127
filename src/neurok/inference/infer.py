"""The verb ``infer``: the poses that trained weights find in a mesh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neurok.core import Asset, Mesh
from neurok.hub import has_weights, load_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from neurok.deformation.models import Model
    from neurok.inference.points import PointSpace
    from neurok.kinematics import KinematicSpace
    from neurok.kinematics.reduce import ReductionMode
    from neurok.kinematics.screws import NeuralSpace


def infer(
    mesh: Mesh | Asset | str | Path,
    model: Model | str | Path | None = None,
    *,
    mode: ReductionMode = "gram",
    dim: int | None = None,
    touch: bool = True,
    exact: bool = False,
) -> NeuralSpace | PointSpace:
    """The plausible poses of a mesh, learned from other objects; joints, parts and clips of its file are not used.

    ``space.sample(8)`` draws plausible states, ``neurok.simulate(space)`` moves it.

    Args:
        mesh: A mesh, an asset, or what ``neurok.load`` reads.
        model: Trained weights: what ``load_model`` returns or takes; the shipped ones by default.
        mode: How the latent space is reduced: ``gram``, ``paper`` or ``none``.
        dim: Number of coordinates; by default enough for 99.99 % of the motion, at most 16.
        touch: Give rigid bodies the joints that the geometry at hand allows, and hold bends less likely that part what
            touches: best for sampling and moving. Off, the space is wider, for fitting poses that lie outside.
        exact: Keep a network of points itself instead of the closed form that is fitted to it: the truth, but too slow
            to simulate with. The space of a network of handles is a closed form anyway.
    """
    from neurok.deformation.points import PointModel
    from neurok.inference.points import closed_form, infer_points
    from neurok.inference.prior import infer_space

    if isinstance(mesh, str | Path):
        from neurok.io import load

        mesh = load(mesh)
    if isinstance(mesh, Asset):
        mesh = mesh.mesh
    if model is None or isinstance(model, str | Path):
        model = load_model(model or "deformation", "deformation")
    if isinstance(model, PointModel):
        points = infer_points(mesh, model, mode, dim)
        return points if exact else closed_form(points)
    return infer_space(mesh, model, mode, dim, touch)


def learner(weights: str | Path | None = None, touch: bool = True) -> Callable[[Mesh], KinematicSpace | None]:
    """What finds the poses of a mesh for posing and scenes; it finds none where nothing moves.

    Nor does it where no weights are shipped or named.
    """
    from neurok.kinematics.screws import NeuralSpace

    if weights is None and not has_weights("deformation"):
        return lambda mesh: None

    def learn(mesh: Mesh) -> KinematicSpace | None:
        space = infer(mesh, weights, touch=touch)
        return None if isinstance(space, NeuralSpace) and not space.screws.any() else space

    return learn
