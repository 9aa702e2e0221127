"""Parts to codes and back: what the rest of the generator asks of the autoencoder."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from neurok.catalogue.appearance import material_of
from neurok.catalogue.parts import PATTERNS, Appearance, Part
from neurok.core.material import Material
from neurok.core.material_library import library
from neurok.geometry.level_set import level_set
from neurok.modelling.booleans import from_manifold, to_manifold
from neurok.modelling.forms import KINDS, OPENINGS, RELIEFS, Hollow, fitted, hollowed, mesh_of
from neurok.modelling.shapes import Shape, box
from neurok_lab.parts.part_autoencoder import FORMS, PartInput, PartModel
from neurok_lab.parts.part_points import CENTRES, FAMILIES, LAWS, SCALES, stuff_of, surface_of_part, unit, values_of
from neurok_lab.parts.part_set import stuff_features

# How codes are read and meshed.
POINTS = 256  # of the surface, in front of the encoder
CELLS = 26  # along each side of the box, of the grid on which distances are asked
REACH = 1.12  # half the grid in halves of the box; its border is outside
COARSE = 0.08  # cells by which the mesh may be off, so that flat places need few triangles
SMALLEST = 0.02  # loose pieces of a smaller share of the volume are dropped


@dataclass(frozen=True, eq=False)
class PartCloud:
    """What is seen of one part: its surface in its own axes, about the middle of its box."""

    points: Float[np.ndarray, "N 3"]
    """[m]."""

    normals: Float[np.ndarray, "N 3"]
    colours: Float[np.ndarray, "N 3"]
    size: Float[np.ndarray, "3"]
    """Sides of the box [m]."""

    appearance: Appearance | None = None
    """What it is made of, where that is known."""


@dataclass(frozen=True, eq=False)
class PartGuess:
    """A part as its codes say it."""

    kind: str
    code: Float[np.ndarray, "24"]
    """Numbers of its form, or the code of its distances where it is implicit."""

    hollow: Hollow | None
    relief: str
    rgb: tuple[float, float, float]
    second_rgb: tuple[float, float, float]
    pattern: str
    tile: float
    law: str
    family: str
    values: Float[np.ndarray, "5"]
    """``part_points.VALUES``; NaN where its law has none."""

    @property
    def colour(self) -> Float[np.ndarray, "3"]:
        """Its mean colour."""
        share = 0.0 if self.pattern == "plain" else 0.4
        return (1.0 - share) * np.array(self.rgb) + share * np.array(self.second_rgb)

    @property
    def material(self) -> Material:
        """The nearest material of the library, with the values that were decoded."""
        return nearest_material(self.law, self.family, self.values)


def encode(model: PartModel, part: Part, seed: int = 0) -> Float[np.ndarray, " Z"]:
    """The codes of a part: 24 numbers of shape, then colour, then material."""
    rng = np.random.default_rng(seed)
    points, normals, colours = surface_of_part(part, POINTS, rng)
    half = np.asarray(part.size) / 2.0
    cloud = PartCloud(points * half, unit(normals / half), colours, np.asarray(part.size), part.appearance)
    return encode_clouds(model, [cloud])[0]


@torch.no_grad()
def encode_clouds(model: PartModel, clouds: list[PartCloud]) -> Float[np.ndarray, "B Z"]:
    """The codes of several parts with equally many points."""
    return np.asarray(model(input_of(clouds))[0], dtype=np.float64)


def input_of(clouds: list[PartCloud]) -> PartInput:
    """What the encoder sees of them."""
    halves = [np.maximum(cloud.size, 1e-5) / 2.0 for cloud in clouds]
    tensor = lambda rows: torch.from_numpy(np.stack(rows).astype(np.float32))  # noqa: E731
    points = tensor([cloud.points / half for cloud, half in zip(clouds, halves, strict=True)])
    normals = tensor([unit(cloud.normals * half) for cloud, half in zip(clouds, halves, strict=True)])
    values = np.full((len(clouds), len(SCALES)), np.nan)
    stuffs = np.full((len(clouds), 2), -1)
    for row, cloud in enumerate(clouds):
        if cloud.appearance is not None:
            values[row] = values_of(material_of(cloud.appearance)) * SCALES - CENTRES
            stuffs[row] = stuff_of(cloud.appearance)
    law, family = torch.from_numpy(stuffs).T
    stuff = stuff_features(torch.from_numpy(values.astype(np.float32)), law, family)
    aspect = tensor([aspect_of(cloud.size) for cloud in clouds])
    colours = tensor([cloud.colours for cloud in clouds])
    return PartInput(points, normals, colours, stuff[:, None].expand(-1, points.shape[1], -1), aspect)


def aspect_of(size: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """Log of the sides of a box over the longest one."""
    return np.log(np.maximum(np.asarray(size) / np.max(size), 1e-3))


@torch.no_grad()
def decode(
    model: PartModel, code: Float[np.ndarray, " Z"], size: Float[np.ndarray, "3"], kind: str | None = None
) -> PartGuess:
    """What codes say of a part in a box of ``size`` [m]; ``kind`` where it is known better."""
    said = model.decoder(_row(code), _row(aspect_of(size)))
    kind = KINDS[int(said.kind[0].argmax())] if kind is None else kind
    numbers = np.asarray(model.decoder.split(_row(code))[0][0], dtype=np.float64)
    if kind in FORMS:
        place = FORMS.index(kind)
        numbers = np.asarray(said.forms[0, place] * model.code_scale[place] + model.code_mean[place], dtype=np.float64)
    opening = OPENINGS[int(said.opening[0].argmax())]
    wall = float(np.exp(np.clip(float(said.wall[0]), -8.0, 0.0))) * float(np.max(size)) / 2.0
    finish = np.asarray(said.appearance[0], dtype=np.float64)
    law = LAWS[int(said.law[0].argmax())]
    family = FAMILIES[int(said.family[0].argmax())]
    values = (np.asarray(said.values[0], dtype=np.float64) + CENTRES) / SCALES
    rgb, second = np.clip(finish[:3], 0.0, 1.0).tolist(), np.clip(finish[3:6], 0.0, 1.0).tolist()
    return PartGuess(
        kind, numbers, Hollow(wall, opening) if opening else None, RELIEFS[int(said.relief[0].argmax())],
        tuple(rgb), tuple(second), PATTERNS[int(said.pattern[0].argmax())],
        float(np.exp(np.clip(finish[6], -5.0, 1.0))),
        law, family, np.where(has_values(law), values, np.nan),
    )  # fmt: skip


@torch.no_grad()
def forms_of(
    model: PartModel, code: Float[np.ndarray, " Z"], size: Float[np.ndarray, "3"]
) -> list[tuple[str, Float[np.ndarray, "24"]]]:
    """What codes say of a part as a form of each kind, whichever is the right one."""
    said = model.decoder(_row(code), _row(aspect_of(size)))
    numbers = np.asarray(said.forms[0] * model.code_scale + model.code_mean, dtype=np.float64)
    return list(zip(FORMS, numbers, strict=True))


def solid_of(model: PartModel, guess: PartGuess, size: Float[np.ndarray, "3"]) -> Shape:
    """The closed solid of a decoded part, filling its box."""
    if guess.kind in FORMS:
        return mesh_of(guess.kind, guess.code, size, guess.hollow, guess.relief)
    return decode_shape(model, guess.code, size, guess.hollow)


@torch.no_grad()
def decode_shape(
    model: PartModel, code: Float[np.ndarray, " Z"], size: Float[np.ndarray, "3"], hollow: Hollow | None = None
) -> Shape:
    """The closed solid of the 24 numbers of an implicit shape, filling a box of ``size`` [m] about the origin.

    Whatever the numbers, it is watertight and looks outwards; where they mean nothing, it is the box.
    """
    size = np.maximum(np.asarray(size, dtype=np.float64), 1e-5)
    axis = np.linspace(-REACH, REACH, CELLS)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(1, -1, 3)
    field = model.decoder.field(_row(code), _row(aspect_of(size)), torch.from_numpy(grid.astype(np.float32)))
    values = np.asarray(field, dtype=np.float64).reshape((CELLS,) * 3)
    vertices, faces = level_set(np.nan_to_num(values, nan=1.0), np.full(3, -REACH), np.full(3, REACH))
    shape = _tidy(Shape(vertices, faces)) if len(faces) else None
    shape = fitted(box((2.0, 2.0, 2.0)) if shape is None else shape, size)
    if hollow is not None and hollow.opening and hollow.wall > 0:
        shape = hollowed(shape, hollow.wall, hollow.opening)
    return shape


def _tidy(shape: Shape) -> Shape | None:
    """Without crumbs and with fewer triangles where it is flat."""
    pieces = to_manifold(shape).decompose()
    largest = max((piece.volume() for piece in pieces), default=0.0)
    kept = [piece for piece in pieces if piece.volume() > SMALLEST * largest]
    if not kept or not largest > 0:
        return None
    whole = kept[0]
    for piece in kept[1:]:
        whole = whole + piece
    cell = 2.0 * REACH / CELLS
    return from_manifold(whole.simplify(COARSE * cell))


@torch.enable_grad()
def refine(
    model: PartModel, codes: Float[np.ndarray, "B Z"], clouds: list[PartCloud], steps: int = 40, rate: float = 0.05
) -> Float[np.ndarray, "B Z"]:
    """Codes whose distances fit the points better: descent on the shape alone, with the decoder as it is.

    Points are to lie at distance zero, and those a little along their normals a little outside.
    """
    given = input_of(clouds)
    count = len(model.decoder.split(_row(codes[0]))[0][0])
    start = torch.from_numpy(codes.astype(np.float32))
    shape = start[:, :count].clone().requires_grad_(True)
    optimizer = torch.optim.Adam([shape], rate)
    offset = 0.03
    for _ in range(steps):
        out = given.points + offset * given.normals
        back = given.points - offset * given.normals
        field = model.decoder.field(shape, given.aspect, torch.cat([given.points, out, back], dim=1))
        on, outside, inside = field.chunk(3, dim=1)
        thin = torch.relu(inside).mean() + torch.relu(-outside).mean()
        loss = on.abs().mean() + thin + 1e-4 * shape.square().sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = np.asarray(shape.detach(), dtype=np.float64)
    return np.concatenate([found, codes[:, count:]], axis=1)


def has_values(law: str) -> np.ndarray:
    """Which of ``part_points.VALUES`` a law of the library has."""
    same = [entry.material for entry in library().values() if entry.material.kind == law]
    flows = any(material.yield_stress is not None for material in same)
    slides = any(material.friction_angle is not None for material in same)
    return np.array([True, True, flows, slides, True])


def nearest_material(law: str, family: str, values: Float[np.ndarray, "5"]) -> Material:
    """The material of the library of that law, best of that family, with the nearest values; it gets these values."""
    best, distance = None, np.inf
    for entry in library().values():
        known = values_of(entry.material)
        away = np.nansum(np.abs(known - values)) + 2.0 * (entry.family != family) + 5.0 * (entry.material.kind != law)
        if away < distance:
            best, distance = entry.material, float(away)
    assert best is not None
    young = float(np.clip(10.0 ** values[0], 1e2, 1e12))
    flow = None if best.yield_stress is None or np.isnan(values[2]) else float(10.0 ** np.clip(values[2], 1.0, 10.0))
    return replace(
        best, young=young, poisson=float(np.clip(values[1], 0.0, 0.49)),
        density=float(np.clip(1000.0 * values[4], 1.0, 2e4)), yield_stress=best.yield_stress if flow is None else flow,
    )  # fmt: skip


def _row(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(values, dtype=np.float32))[None]
