"""What dynamics and posing need to know of an object: how reduced coordinates become vertex positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from neurok.core.mesh import Mesh

if TYPE_CHECKING:
    from torch import Tensor


@runtime_checkable
class KinematicSpace(Protocol):
    """All poses one object can take, each named by its reduced coordinates ``q``."""

    @property
    def rest(self) -> Mesh:
        """The undeformed object."""

    @property
    def dim(self) -> int:
        """Number of coordinates."""

    def decode(self, q: Tensor) -> Tensor:
        """Vertex positions ``(V, 3)`` at ``q`` ``(D,)`` in float64, differentiable; ``q = 0`` is the rest shape."""


@runtime_checkable
class FeatureSpace(KinematicSpace, Protocol):
    """A space whose positions are linear in a few nonlinear features: ``x = C Y(q)``.

    Handle-driven shapes are of this kind (``C`` holds weights times rest positions, ``Y`` the transforms), and so are
    linear ones. Masses then enter only through the small matrix CᵀMC, so that stepping does not depend on the
    number of vertices.
    """

    @property
    def rest(self) -> Mesh: ...

    @property
    def dim(self) -> int: ...

    def decode(self, q: Tensor) -> Tensor: ...

    @property
    def features(self) -> Float[np.ndarray, "V K"]:
        """The constant matrix C."""

    @property
    def unity(self) -> Float[np.ndarray, " K"]:
        """Coefficients with ``C @ unity = 1``: how a translation of the whole object looks in the features."""

    def shape(self, q: Float[np.ndarray, "B D"]) -> tuple[Float[np.ndarray, "B K 3"], Float[np.ndarray, "B D K 3"]]:
        """The features Y and their derivatives by each coordinate, for a batch of coordinates."""

    def shape_rate(self, q: Float[np.ndarray, "B D"], qdot: Float[np.ndarray, "B D"]) -> Float[np.ndarray, "B D K 3"]:
        """How the derivatives of Y change while ``q`` moves with ``qdot``: the second-order term."""


def decode(space: KinematicSpace, q: Float[np.ndarray, " D"]) -> Float[np.ndarray, "V 3"]:
    """Vertex positions of one pose as a plain array."""
    import torch

    with torch.no_grad():
        return space.decode(torch.as_tensor(np.asarray(q, dtype=np.float64))).numpy()


def limits_of(space: KinematicSpace) -> Float[np.ndarray, "D 2"]:
    """Lower and upper limit of each coordinate; infinite where the space names none (``space.limits``)."""
    limits = getattr(space, "limits", None)
    if limits is None:
        return np.tile([-np.inf, np.inf], (space.dim, 1))
    return np.asarray(limits, dtype=np.float64)
