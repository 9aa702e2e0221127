"""The autoencoder of parts: a surface sample to codes of shape, material and colour, and back (SOPHY on part tokens).

Material layers attend to shape and colour, colour layers to shape, shape to nothing else. A shape is decoded twice: as
a kind with the numbers of its form, and, for parts that are of no such kind, as distances to its surface.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from neurok.catalogue.parts import PATTERNS
from neurok.learned.blocks import Block, drawn, fourier, fourier_width
from neurok.learned.task import Task
from neurok.modelling.forms import CODE, KINDS, OPENINGS, RELIEFS
from neurok_lab.parts.part_points import FAMILIES, LAWS, VALUES

Codes = Literal["split", "decoded", "apart", "fused"]
"""How codes are made: as above; materials decoded from the shape afterwards; without attention between them; one for
all."""

STUFF = len(VALUES) + 2 + len(LAWS) + len(FAMILIES) + 1
"""What a point knows of its material: numbers, which of them there are, law, family, and whether anything is known."""

FORMS = KINDS[1:]
"""Kinds with an explicit code."""


@dataclass(frozen=True)
class PartConfig:
    """Sizes of the autoencoder: 0.9 M parameters; a step with 48 parts takes a seventh of a second of one core."""

    codes: Codes = "split"
    width: int = 64
    heads: int = 4
    shape_tokens: int = 4
    """The 24 numbers of a shape are so many tokens."""

    shape: int = CODE
    colour: int = 8
    material: int = 8
    octaves: int = 4
    """Of the embedding of surface points."""

    stuff_points: int = 40
    """Points whose colours and materials are looked at: they vary little within a part."""

    field_width: int = 128
    field_depth: int = 4
    field_octaves: int = 6
    """Of the decoder of distances; thin parts need six."""

    form_width: int = 256
    """Of the decoder of forms."""

    code_mean: tuple[tuple[float, ...], ...] = ((0.0,) * CODE,) * len(FORMS)
    code_scale: tuple[tuple[float, ...], ...] = ((1.0,) * CODE,) * len(FORMS)
    """Mean and spread of the numbers of each kind, of training data."""

    def __post_init__(self) -> None:
        assert self.codes in get_args(Codes)
        for name in ("code_mean", "code_scale"):
            object.__setattr__(self, name, tuple(tuple(row) for row in getattr(self, name)))

    @property
    def total(self) -> int:
        return self.shape + self.colour + self.material


class PartInput(NamedTuple):
    """What the encoder sees of parts."""

    points: Float[Tensor, "B N 3"]
    normals: Float[Tensor, "B N 3"]
    colours: Float[Tensor, "B N 3"]
    stuff: Float[Tensor, "B N S"]
    aspect: Float[Tensor, "B 3"]
    """Log of the sides of the box over its longest one."""


class Decoded(NamedTuple):
    """What the decoder says of a part; of choices, logits."""

    kind: Float[Tensor, "B K"]
    forms: Float[Tensor, "B F 24"]
    """Numbers of each explicit kind, standardised."""

    opening: Float[Tensor, "B O"]
    relief: Float[Tensor, "B R"]
    wall: Float[Tensor, " B"]
    """Log of the wall in halves of the longest side."""

    appearance: Float[Tensor, "B 7"]
    pattern: Float[Tensor, "B P"]
    law: Float[Tensor, "B L"]
    family: Float[Tensor, "B M"]
    values: Float[Tensor, "B 5"]


class PointFeatures(nn.Module):
    """Points that know of each other through their maximum."""

    def __init__(self, config: PartConfig) -> None:
        super().__init__()
        width = config.width
        self.octaves = config.octaves
        self.first = nn.Sequential(
            nn.Linear(fourier_width(3, config.octaves) + 6, width), nn.GELU(), nn.Linear(width, width), nn.GELU()
        )
        self.second = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, given: PartInput) -> Float[Tensor, "B N W"]:
        aspect = given.aspect[:, None].expand_as(given.points)
        each = self.first(torch.cat([fourier(given.points, self.octaves), given.normals, aspect], dim=-1))
        return self.second(torch.cat([each, each.amax(dim=1, keepdim=True).expand_as(each)], dim=-1))


class PartEncoder(nn.Module):
    """From a surface sample to mean and log variance of the codes."""

    def __init__(self, config: PartConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.features = PointFeatures(config)
        self.queries = drawn(config.shape_tokens + 4, width, spread=0.5)
        self.colour_in, self.stuff_in = nn.Linear(3, width), nn.Linear(STUFF, width)
        block = lambda cross: Block(width, config.heads, cross=cross)  # noqa: E731
        self.shape_blocks = nn.ModuleList([block(True), block(False)])
        self.colour_blocks = nn.ModuleList([block(True), block(True)])
        self.material_blocks = nn.ModuleList([block(True), block(True)])
        head = lambda tokens, size: nn.Sequential(  # noqa: E731
            nn.Linear(tokens * width, 2 * width), nn.GELU(), nn.Linear(2 * width, 2 * size)
        )
        self.shape_head = head(config.shape_tokens + 2, config.total if config.codes == "fused" else config.shape)
        self.colour_head, self.material_head = head(2, config.colour), head(2, config.material)

    def forward(self, given: PartInput) -> tuple[Float[Tensor, "B Z"], Float[Tensor, "B Z"]]:
        mode = self.config.codes
        geometry = self.features(given)
        some = geometry if mode == "fused" else geometry[:, : self.config.stuff_points]
        coloured = some + self.colour_in(given.colours[:, : some.shape[1]])
        made = some + self.stuff_in(given.stuff[:, : some.shape[1]])
        queries = self.queries.expand(len(geometry), -1, -1)
        shape, colour, material = queries.split([self.config.shape_tokens, 2, 2], dim=1)
        seen = coloured + made if mode == "fused" else geometry
        shape = self.shape_blocks[1](self.shape_blocks[0](shape, seen))
        pooled = torch.cat([shape.flatten(1), seen.amax(dim=1), seen.mean(dim=1)], dim=-1)
        parts = [self.shape_head(pooled)]
        if mode != "fused":
            colour = self.colour_blocks[0](colour, coloured)
            material = self.material_blocks[0](material, made)
            if mode != "apart":
                colour = self.colour_blocks[1](colour, shape)
                material = self.material_blocks[1](material, torch.cat([shape, colour], dim=1))
            parts += [self.colour_head(colour.flatten(1)), self.material_head(material.flatten(1))]
        means, logs = zip(*(part.chunk(2, dim=-1) for part in parts), strict=True)
        return torch.cat(means, dim=-1), torch.cat(logs, dim=-1).clamp(-12.0, 4.0)


class ImplicitField(nn.Module):
    """Signed distance to a part in its box, given its code: a residual network modulated by it."""

    def __init__(self, config: PartConfig) -> None:
        super().__init__()
        width, depth, self.octaves = config.field_width, config.field_depth, config.field_octaves
        code = config.total if config.codes == "fused" else config.shape
        self.rise = nn.Linear(fourier_width(3, self.octaves), width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.modulation = nn.Sequential(nn.Linear(code + 3, 192), nn.SiLU(), nn.Linear(192, 2 * (depth + 1) * width))
        self.fall = nn.Linear(width, 1)

    def forward(
        self, code: Float[Tensor, "B Z"], aspect: Float[Tensor, "B 3"], queries: Float[Tensor, "B Q 3"]
    ) -> Float[Tensor, "B Q"]:
        both = self.modulation(torch.cat([code, aspect], dim=-1))[:, None].chunk(2 * (len(self.layers) + 1), dim=-1)
        x = self.rise(fourier(queries / 2.0, self.octaves))
        x = nn.functional.silu(torch.addcmul(both[1], x, 1.0 + both[0]))
        for number, layer in enumerate(self.layers, start=1):
            x = x + nn.functional.silu(torch.addcmul(both[2 * number + 1], layer(x), 1.0 + both[2 * number]))
        return self.fall(x)[..., 0]


class PartDecoder(nn.Module):
    """From codes to what a part is."""

    def __init__(self, config: PartConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        code = config.total if config.codes == "fused" else config.shape
        self.field = ImplicitField(config)
        hidden = config.form_width
        self.counts = [len(KINDS), len(FORMS) * CODE, len(OPENINGS), len(RELIEFS), 1]
        self.form_head = nn.Sequential(
            nn.Linear(code + 3, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(),
            nn.Linear(hidden, sum(self.counts)),
        )  # fmt: skip
        self.shape_in = nn.Linear(code // config.shape_tokens, width)
        sizes = (code, code) if config.codes == "fused" else (config.colour, config.material)
        self.colour_in, self.material_in = (nn.Linear(size // 2, width) for size in sizes)
        self.places = drawn(config.shape_tokens + 4, width, spread=0.5)
        self.colour_blocks = nn.ModuleList([Block(width, config.heads, cross=True)])
        self.material_blocks = nn.ModuleList([Block(width, config.heads, cross=True)])
        head = lambda size: nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, size))  # noqa: E731
        self.look_head = head(7 + len(PATTERNS))
        self.stuff_head = head(len(LAWS) + len(FAMILIES) + len(VALUES))

    def split(self, code: Float[Tensor, "B Z"]) -> tuple[Tensor, Tensor, Tensor]:
        """Shape, colour and material; all of it for each where they are fused."""
        if self.config.codes == "fused":
            return code, code, code
        return tuple(code.split([self.config.shape, self.config.colour, self.config.material], dim=-1))  # type: ignore

    def forward(self, code: Float[Tensor, "B Z"], aspect: Float[Tensor, "B 3"]) -> Decoded:
        mode, tokens = self.config.codes, self.config.shape_tokens
        shape, colour, material = self.split(code)
        kind, forms, opening, relief, wall = self.form_head(torch.cat([shape, aspect], dim=-1)).split(self.counts, -1)
        place = self.places.expand(len(code), -1, -1).split([tokens, 2, 2], dim=1)
        shape_tokens = self.shape_in(shape.unflatten(-1, (tokens, -1))) + place[0]
        colour_tokens = self.colour_in(colour.unflatten(-1, (2, -1))) + place[1]
        material_tokens = self.material_in(material.unflatten(-1, (2, -1))) + place[2]
        if mode == "decoded":
            material_tokens = self.material_blocks[0](place[2], shape_tokens.detach())
            colour_tokens = self.colour_blocks[0](colour_tokens, shape_tokens)
        elif mode == "split":
            colour_tokens = self.colour_blocks[0](colour_tokens, shape_tokens)
            context = torch.cat([shape_tokens, colour_tokens], dim=1)
            material_tokens = self.material_blocks[0](material_tokens, context)
        finish, pattern = self.look_head(colour_tokens.flatten(1)).split([7, len(PATTERNS)], dim=-1)
        law, family, values = self.stuff_head(material_tokens.flatten(1)).split(
            [len(LAWS), len(FAMILIES), len(VALUES)], dim=-1
        )
        numbers = forms.unflatten(-1, (len(FORMS), CODE))
        return Decoded(kind, numbers, opening, relief, wall[..., 0], finish, pattern, law, family, values)


class PartModel(nn.Module):
    """Encoder and decoder."""

    code_mean: Tensor
    code_scale: Tensor

    def __init__(self, config: PartConfig | None = None) -> None:
        super().__init__()
        self.config = config or PartConfig()
        self.encoder, self.decoder = PartEncoder(self.config), PartDecoder(self.config)
        self.register_buffer("code_mean", torch.tensor(self.config.code_mean), persistent=False)
        self.register_buffer("code_scale", torch.tensor(self.config.code_scale), persistent=False)

    def forward(self, given: PartInput, noise: Float[Tensor, "B Z"] | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Code (the mean without noise), mean and log variance."""
        mean, log_variance = self.encoder(given)
        code = mean if noise is None else mean + noise * (log_variance / 2.0).exp()
        return code, mean, log_variance


# How much each term counts; those of distances are of the sketch that first worked, the tenths are SOPHY's.
REACH = 0.15  # distances are clipped here, in halves of the box, and measured by it
SHARPNESS = 0.02  # distance over which inside turns into outside
INSIDE = 0.2  # of the cross entropy of inside and outside, beside the distances
THIN = 2.0  # of places inside beside those outside: else thin parts vanish
FORM = 0.7  # of the numbers of forms
WORDS = 0.1  # of kind, opening, relief and pattern, each
MATERIAL = 0.1
COLOUR = 0.5  # larger than SOPHY's tenth: ours is one error of a whole part
KL = 2e-4  # of a nat: a code of 40 numbers costs some tens of them


class PartTargets(NamedTuple):
    """What is known of parts."""

    kind: Int[Tensor, " B"]
    """-1 where it must not be asked, as of the following."""

    code: Float[Tensor, "B 24"]
    """Standardised."""

    opening: Int[Tensor, " B"]
    relief: Int[Tensor, " B"]
    wall: Float[Tensor, " B"]
    appearance: Float[Tensor, "B 7"]
    pattern: Int[Tensor, " B"]
    law: Int[Tensor, " B"]
    family: Int[Tensor, " B"]
    values: Float[Tensor, "B 5"]
    """Scaled; NaN where there is none."""

    queries: Float[Tensor, "B Q 3"]
    distances: Float[Tensor, "B Q"]


class Terms(NamedTuple):
    loss: Float[Tensor, ""]
    parts: dict[str, Tensor]


class PartTask(nn.Module):
    """The model with its loss."""

    def __init__(self, config: PartConfig) -> None:
        super().__init__()
        self.model = PartModel(config)

    def forward(self, given: PartInput, targets: PartTargets, noise: Tensor | None = None) -> Terms:
        model = self.model
        code, mean, log_variance = model(given, noise)
        shape = model.decoder.split(code)[0]
        distances = model.decoder.field(shape, given.aspect, targets.queries)
        decoded = model.decoder(code, given.aspect)
        kl = 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(dim=-1).mean()
        parts = {
            **distance_terms(distances, targets.distances),
            **form_terms(decoded, targets),
            **stuff_terms(decoded, targets),
            "nats": kl,
        }
        loss = parts["distance"] + INSIDE * parts["inside"] + FORM * parts["form"]
        loss = loss + WORDS * (parts["kind"] + parts["opening"] + parts["relief"] + parts["pattern"])
        loss = loss + WORDS * parts["wall"] + COLOUR * parts["colour"]
        loss = loss + MATERIAL * (parts["law"] + parts["family"] + parts["material"]) + KL * kl
        return Terms(loss, parts)


def distance_terms(found: Tensor, true: Tensor) -> dict[str, Tensor]:
    is_in = (true < 0).to(true.dtype)
    distance = (found.clamp(-REACH, REACH) - true.clamp(-REACH, REACH)).abs().mean() / REACH
    thin = torch.tensor(THIN, dtype=found.dtype)
    logits = -found / SHARPNESS
    inside = nn.functional.binary_cross_entropy_with_logits(logits, is_in, pos_weight=thin)
    right = ((found < 0) == (true < 0)).to(found.dtype).mean()
    return {"distance": distance, "inside": inside, "right": right}


def form_terms(decoded: Decoded, targets: PartTargets) -> dict[str, Tensor]:
    is_form = targets.kind > 0
    number = (targets.kind - 1).clamp(min=0)
    guess = decoded.forms[torch.arange(len(number)), number]
    form = nn.functional.smooth_l1_loss(guess, targets.code, reduction="none", beta=0.1).mean(dim=-1)
    wall = nn.functional.smooth_l1_loss(decoded.wall, targets.wall, reduction="none", beta=0.1)
    is_hollow = (targets.opening > 0) & (targets.wall > -20.0)
    return {
        "form": _mean(form, is_form),
        "wall": _mean(wall, is_hollow),
        "kind": _choice(decoded.kind, targets.kind),
        "opening": _choice(decoded.opening, targets.opening),
        "relief": _choice(decoded.relief, targets.relief),
    }


def stuff_terms(decoded: Decoded, targets: PartTargets) -> dict[str, Tensor]:
    """Numbers that a material has not, and those of unknown materials, count nothing.

    Each number counts alike, however few materials have it: pooled, friction angles drown among the others.
    """
    known = (~targets.values.isnan()).to(decoded.values.dtype)
    error = (decoded.values - targets.values.nan_to_num()).abs() * known
    of_number = error.sum(dim=0) / known.sum(dim=0).clamp(min=1)
    finish = (decoded.appearance - targets.appearance).abs()
    is_patterned = targets.pattern > 0
    return {
        "law": _choice(decoded.law, targets.law),
        "family": _choice(decoded.family, targets.family),
        "material": of_number.sum() / (known.sum(dim=0) > 0).sum().clamp(min=1),
        "colour": finish[:, :3].mean() + 0.3 * _mean(finish[:, 3:].mean(dim=-1), is_patterned),
        "pattern": _choice(decoded.pattern, targets.pattern),
    }


def _choice(logits: Tensor, labels: Tensor) -> Tensor:
    each = nn.functional.cross_entropy(logits, labels, ignore_index=-1, reduction="none")
    return each.sum() / (labels >= 0).sum().clamp(min=1)


def _mean(values: Tensor, counts: Tensor) -> Tensor:
    return (values * counts).sum() / counts.sum().clamp(min=1)


def _describe(model: Any) -> dict[str, Any] | None:
    return {"part_config": asdict(model.config)} if isinstance(model, PartModel) else None


TASK = Task(lambda card: PartModel(PartConfig(**card["part_config"])), _describe)
