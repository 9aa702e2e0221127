"""What an object is made of, and how hard it falls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from neurok.core.mesh import frozen_array
from neurok.errors import NeurokError, ShapeError, shown

if TYPE_CHECKING:
    from neurok.core.mesh import Mesh

STANDARD_GRAVITY = 9.81
"""[m/s^2], at the earth's surface."""


DEFAULT_DENSITY = 500.0
"""[kg/m^3] where nothing is said about a material: wood."""

DEFAULT_FRICTION = 0.5
"""Coulomb's coefficient where nothing is said about a material."""

SHEET_SHARE = 0.01
"""Thickness of open surfaces that name none, as a share of the object's size: a board, a sheet of metal."""

DENSITY_RANGE = (0.1, 3e4)
"""[kg/m^3]: from the lightest aerogels to beyond osmium."""

YOUNG_RANGE = (1.0, 2e12)
"""[Pa]: from slime to beyond diamond."""

STIFF = 1e8
"""Young's modulus [Pa] above which a material does not bend visibly: wood, metal, glass, hard plastics."""

MaterialKind = Literal["rigid", "elastic", "metal", "plasticine", "sand", "foam", "fluid"]


@dataclass(frozen=True)
class Material:
    """Constitutive constants at a point."""

    name: str = "generic"
    young: float = 1e6
    """Young's modulus [Pa]."""

    poisson: float = 0.3
    """Poisson's ratio, in (-1, 0.5)."""

    density: float = DEFAULT_DENSITY
    """[kg/m^3]."""

    kind: MaterialKind = "elastic"
    yield_stress: float | None = None
    """[Pa]; only for kinds that yield."""

    friction_angle: float | None = None
    """[rad]; only for granular kinds."""

    damping_ratio: float = 0.02
    """Share of critical damping with which a piece of it stops ringing, in [0, 1)."""

    friction: float = DEFAULT_FRICTION
    """Coulomb's coefficient against a hard dry surface."""

    thickness: float | None = None
    """[m] of the sheets it usually comes in; ``None`` for what is solid."""

    source: str = ""
    """Where the figures come from."""

    def __post_init__(self) -> None:
        wrong = []
        wrong += check_range("young", self.young)
        if not -1 < self.poisson < 0.5:
            wrong.append(f"poisson must lie in (-1, 0.5), got {self.poisson}")
        wrong += check_range("density", self.density)
        if self.kind not in get_args(MaterialKind):
            wrong.append(f"kind must be one of {', '.join(get_args(MaterialKind))}, got {self.kind!r}")
        if self.yield_stress is not None and not self.yield_stress > 0:
            wrong.append(f"yield_stress must be positive [Pa], got {self.yield_stress}")
        if self.friction_angle is not None and not 0 <= self.friction_angle < math.pi / 2:
            wrong.append(f"friction_angle must lie in [0, pi/2) [rad], got {self.friction_angle}")
        if not 0 <= self.damping_ratio < 1:
            wrong.append(f"damping_ratio must lie in [0, 1), got {self.damping_ratio}")
        if not (math.isfinite(self.friction) and self.friction >= 0):
            wrong.append(f"friction must be zero or positive, got {self.friction}")
        if self.thickness is not None and not (math.isfinite(self.thickness) and self.thickness > 0):
            wrong.append(f"thickness must be positive [m], got {self.thickness}")
        if wrong:
            raise NeurokError(f"Material '{self.name}': " + "; ".join(wrong) + ".")

    @property
    def is_soft(self) -> bool:
        """Whether things made of it bend or dent visibly."""
        return self.young <= STIFF and self.kind != "rigid"

    @property
    def restitution(self) -> float:
        """Speed kept in a bounce: that of a linear spring and damper over its half cycle of contact."""
        return math.exp(-math.pi * self.damping_ratio / math.sqrt(1.0 - self.damping_ratio**2))


def check_range(name: str, value: float) -> list[str]:
    """What is wrong with a ``density`` or ``young``, if anything: nothing real lies outside their ranges."""
    (low, high), unit = {"density": (DENSITY_RANGE, "kg/m^3"), "young": (YOUNG_RANGE, "Pa")}[name]
    if not value > 0:
        return [f"{name} must be positive [{unit}], got {value:g}"]
    if not low <= value <= high:
        return [f"{name} must lie between {low:g} and {high:g} {unit}, got {value:g}"]
    return []


VALUES = ("young", "poisson", "density", "yield_stress", "friction_angle", "damping_ratio", "friction")
"""What varies over an object as a number."""


def _numbers_of(name: str, meaning: str) -> Any:
    """A property of ``MaterialField``: one number of each vertex, its own where it has one, else its material's."""

    def numbers(field: MaterialField) -> Float[np.ndarray, " V"]:
        library = [np.nan if (number := getattr(m, name)) is None else number for m in field.materials]
        out = np.array(library, dtype=np.float64)[field.ids]
        return np.where(np.isnan(own), out, own) if (own := field.values.get(name)) is not None else out

    return property(numbers, doc=meaning)


@dataclass(frozen=True, eq=False)
class MaterialField:
    """Materials over an object: a small library with an index for each vertex, and numbers that vary within it."""

    materials: tuple[Material, ...]
    ids: Int[np.ndarray, " V"]
    values: Mapping[str, Float[np.ndarray, " V"]] = field(default_factory=dict)
    """Numbers of each vertex that count instead of the library's, by the name of a field of ``Material``: ``young``,
    ``poisson``, ``density``, ``yield_stress``, ``friction_angle``, ``damping_ratio``, ``friction``; NaN where the
    library's counts."""

    def __post_init__(self) -> None:
        ids = frozen_array(self.ids, np.int64, (None,), "material ids")
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "materials", tuple(self.materials))
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(self.materials):
            raise ShapeError(f"Material ids must lie in 0..{len(self.materials) - 1}.")
        unknown = [name for name in self.values if name not in VALUES]
        if unknown:
            raise NeurokError(f"'{unknown[0]}' cannot vary over an object; {', '.join(VALUES)} can.")
        values = {name: frozen_array(value, np.float64, ids.shape, name) for name, value in self.values.items()}
        for name, value in values.items():
            known = value[~np.isnan(value)]
            for extreme in [known.min(), known.max()] if len(known) else []:
                Material("values", **{name: float(extreme)})  # type: ignore[arg-type]
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        names = list(dict.fromkeys(material.name for material in self.materials))
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        return f"<MaterialField: {', '.join(map(shown, names[:5]))}{more} over {len(self.ids):,} vertices>"

    @staticmethod
    def uniform(material: Material, vertex_count: int) -> MaterialField:
        """One material everywhere."""
        return MaterialField((material,), np.zeros(vertex_count, dtype=np.int64))

    @staticmethod
    def of_parts(mesh: Mesh, made_of: Mapping[str, Material], otherwise: Material | None = None) -> MaterialField:
        """One material for each named part; ``otherwise`` for the rest, by default ``Material()``."""
        unknown = [name for name in made_of if name not in mesh.part_names]
        if unknown:
            raise NeurokError(
                f"'{mesh.name}' has no part {unknown[0]!r}; it has {', '.join(mesh.part_names) or 'none'}."
            )
        rest = Material() if otherwise is None else otherwise
        of_part = np.array([list(made_of).index(name) if name in made_of else len(made_of) for name in mesh.part_names])
        if mesh.part_ids is None:
            return MaterialField.uniform(rest, mesh.vertex_count)
        return MaterialField((*made_of.values(), rest), of_part[mesh.part_ids])

    @staticmethod
    def joined(fields: Sequence[MaterialField]) -> MaterialField:
        """Of several objects in one mesh, one after the other."""
        starts = np.cumsum([0, *(len(each.materials) for each in fields)])
        names = [name for name in VALUES if any(name in each.values for each in fields)]
        blank = [np.full(len(each.ids), np.nan) for each in fields]
        return MaterialField(
            tuple(material for each in fields for material in each.materials),
            np.concatenate([each.ids + start for each, start in zip(fields, starts, strict=False)]),
            {
                name: np.concatenate([each.values.get(name, none) for each, none in zip(fields, blank, strict=True)])
                for name in names
            },
        )

    def take(self, vertices: Int[np.ndarray, " n"]) -> MaterialField:
        """At some vertices."""
        values = {name: value[vertices] for name, value in self.values.items()}
        return MaterialField(self.materials, self.ids[vertices], values)

    def at(self, points: Float[np.ndarray, "n 3"], vertices: Float[np.ndarray, "V 3"]) -> MaterialField:
        """At points in or around the object: what the nearest of its vertices, given by position, is made of."""
        from scipy.spatial import cKDTree

        if len(vertices) != len(self.ids):
            raise ShapeError(f"The materials are given for {len(self.ids)} vertices, got {len(vertices)} positions.")
        return self.take(cKDTree(vertices).query(points)[1])

    def with_part(self, vertices: Int[np.ndarray, " n"], material: Material) -> MaterialField:
        """The same with some vertices made of another material."""
        ids = np.array(self.ids)
        ids[vertices] = len(self.materials)
        values = {name: np.array(value) for name, value in self.values.items()}
        for value in values.values():
            value[vertices] = np.nan
        return MaterialField((*self.materials, material), ids, values)

    young = _numbers_of("young", "Young's modulus [Pa].")
    poisson = _numbers_of("poisson", "Poisson's ratio.")
    density = _numbers_of("density", "[kg/m^3].")
    yield_stress = _numbers_of("yield_stress", "[Pa]; NaN where nothing yields.")
    friction_angle = _numbers_of("friction_angle", "[rad]; NaN where nothing is granular.")
    damping_ratio = _numbers_of("damping_ratio", "Share of critical damping.")
    friction = _numbers_of("friction", "Coulomb's coefficient of the surface.")
    thickness = _numbers_of("thickness", "Of its usual sheets [m]; NaN where it comes as a solid.")

    @property
    def is_soft(self) -> Bool[np.ndarray, " V"]:
        """Whether each vertex is of something that bends or dents visibly."""
        return np.asarray((self.young <= STIFF) & (self.kind != "rigid"))

    @property
    def kind(self) -> np.ndarray:
        """``MaterialKind`` of each vertex."""
        return np.array([material.kind for material in self.materials])[self.ids]
