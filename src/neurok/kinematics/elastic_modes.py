"""The softest ways in which a lattice can deform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from neurok.errors import NeurokError
from neurok.kinematics.lattice import CORNERS, Lattice

# How the softest modes are found, and what joins them.
EIGENVALUE_SHIFT = 1e-2
"""Shift of the eigenvalue problem, as a share of E/(rho L^2) of the softest cell. Beside parts that are 1e7 times
stiffer, a hundredth of this drowns in round-off: a mattress on a wooden frame then had modes that were none."""

LEAST_EIGENVALUE = 1e-4  # Least eigenvalue that is kept, as a share of the shift
ROUGH_RATE = 5.0
"""Learned motions lose what swings this many times faster than the last mode; by eye, on animals that bend."""

SPARE_VECTORS = 2
"""Vectors that are sought beside the wanted ones: the search finds some rigid motion twice now and then."""

RIGID_SHARE = 0.5  # A vector of which a smaller share is left without its rigid motion is one
NEW_SHARE = 0.2  # Share of a learned motion that the modes must lack for it to join them; the same


@dataclass(frozen=True, eq=False)
class ElasticModes:
    """Modes of a lattice, of unit modal mass."""

    values: Float[np.ndarray, " D"]
    """Squared angular frequencies [1/s^2]."""

    fields: Float[np.ndarray, "D N 3"]
    """Displacement of the nodes [m per unit amplitude]."""

    damping: Float[np.ndarray, " D"]
    """Share of critical damping, the mean over the elastic energy of the mode."""


def elastic_modes(
    lattice: Lattice,
    clamped: Bool[np.ndarray, " N"],
    count: int,
    extra: Float[np.ndarray, "E N 3"] | None = None,
) -> ElasticModes:
    """The softest modes that are not rigid motions; with ``extra`` motions, the best in the span of both.

    Args:
        lattice: Stiffness and mass.
        clamped: Nodes that do not move.
        count: Number of modes.
        extra: Motions of the nodes that shall be possible; what is rough in them is smoothed by the material.
    """
    from scipy.sparse import diags
    from scipy.sparse.linalg import LinearOperator, eigsh, splu

    free = np.repeat(~clamped, 3)
    if free.sum() < 12:
        raise NeurokError("Nearly everything is pinned, so nothing can bend; pin fewer vertices.")
    mass = np.repeat(lattice.node_masses, 3)[free]
    stiffness = lattice.stiffness[free][:, free].tocsc()
    extent = float(np.ptp(lattice.nodes, axis=0).max())
    density = mass.sum() / 3.0 / (len(lattice.cells) * float(np.prod(lattice.sides)))
    shift = EIGENVALUE_SHIFT * float(lattice.young.min()) / (density * extent**2)
    solver = splu(
        (stiffness + diags(shift * mass)).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    size = len(mass)
    floats = not clamped.any()
    wanted = min(count + (6 + SPARE_VECTORS if floats else 0), size - 2)
    inverse = LinearOperator((size, size), matvec=solver.solve, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size)
    values, vectors = eigsh(stiffness, wanted, diags(mass).tocsc(), sigma=-shift, OPinv=inverse, v0=start)
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    if floats:
        values, vectors = _without_rigid(lattice, stiffness, mass, vectors)
        values, vectors = values[:count], vectors[:, :count]
    if extra is not None and len(extra):
        extra = extra.reshape(len(extra), -1)[:, free]
        if floats:
            rigid = _rigid_motions(lattice, mass)
            extra = extra - (extra * mass @ rigid) @ rigid.T
        values, vectors = _joined(stiffness, mass, values, vectors, extra)
    values = np.maximum(values, LEAST_EIGENVALUE * shift)
    fields = np.zeros((vectors.shape[1], len(free)))
    fields[:, free] = vectors.T
    fields *= np.sign(fields[np.arange(len(fields)), np.abs(fields).argmax(axis=1)])[:, None]
    fields = fields.reshape(len(fields), -1, 3)
    return ElasticModes(values, fields, _damping(lattice, fields))


def _rigid_motions(lattice: Lattice, mass: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 6"]:
    """Shifts and turns of all nodes, orthonormal by mass."""
    arms = lattice.nodes - np.average(lattice.nodes, axis=0, weights=lattice.node_masses)
    shifts = [np.broadcast_to(axis, arms.shape) for axis in np.eye(3)]
    turns = [np.cross(axis, arms) for axis in np.eye(3)]
    root = np.sqrt(mass)[:, None]
    basis = np.stack([motion.reshape(-1) for motion in (*shifts, *turns)], axis=1)
    return np.asarray(np.linalg.qr(root * basis)[0] / root)


def _without_rigid(
    lattice: Lattice,
    stiffness: Any,
    mass: Float[np.ndarray, " n"],
    vectors: Float[np.ndarray, "n k"],
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "n m"]]:
    """Eigenvalues and vectors without those that are rigid motions."""
    from scipy.linalg import eigh

    rigid = _rigid_motions(lattice, mass)
    left = vectors - rigid @ (rigid.T @ (mass[:, None] * vectors))
    left = left[:, (left**2 * mass[:, None]).sum(axis=0) > RIGID_SHARE**2]
    values, mix = eigh(left.T @ (stiffness @ left), left.T @ (mass[:, None] * left))
    return values, left @ mix


def _joined(
    stiffness: Any,
    mass: Float[np.ndarray, " n"],
    values: Float[np.ndarray, " k"],
    vectors: Float[np.ndarray, "n k"],
    extra: Float[np.ndarray, "E n"],
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "n m"]]:
    """Ritz vectors of the modes and of motions that they lack (Rayleigh and Ritz)."""
    from scipy.linalg import eigh

    basis = vectors
    for motion in extra:
        whole = float(motion @ (mass * motion))
        smooth = _smoothed(stiffness, mass, motion, ROUGH_RATE * float(np.sqrt(values[-1])))
        rest = smooth - basis @ (basis.T @ (mass * smooth))
        size = float(rest @ (mass * rest))
        if size > NEW_SHARE**2 * whole > 0:
            basis = np.concatenate([basis, (rest / np.sqrt(size))[:, None]], axis=1)
    found, mix = eigh(basis.T @ (stiffness @ basis), basis.T @ (mass[:, None] * basis))
    return found, basis @ mix


def _smoothed(
    stiffness: Any, mass: Float[np.ndarray, " n"], motion: Float[np.ndarray, " n"], rate: float
) -> np.ndarray:
    """A motion without what swings faster than a rate [rad/s]."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import cg

    pull = rate**2 * mass
    matrix = stiffness + diags(pull)
    precondition = diags(1.0 / matrix.diagonal())
    out, _ = cg(matrix, pull * motion, x0=motion, M=precondition, rtol=1e-4, maxiter=300)
    return np.asarray(out)


def _damping(lattice: Lattice, fields: Float[np.ndarray, "D N 3"]) -> Float[np.ndarray, " D"]:
    """Damping ratios by energy, from the mean strain of each cell."""
    slopes = (2.0 * CORNERS - 1.0) / (4.0 * lattice.sides)
    gradients = np.einsum("dcni,nj->dcij", fields[:, lattice.bricks], slopes)
    strains = 0.5 * (gradients + gradients.swapaxes(-1, -2))
    energies = (strains**2).sum(axis=(-1, -2)) * lattice.young + 1e-300
    return np.asarray((energies * lattice.damping).sum(axis=1) / energies.sum(axis=1))
