"""Pictures that people give: read with care, their object cut out of its background.

Where the border shows a plain background, or a wall and a floor, what differs from it and hangs together is the object,
if the reader of pictures agrees about where that is. Elsewhere the reader's coarse mask is refined by a minimal cut
between colours (Rother et al. 2004, GrabCut). If that fails, too, the picture is used whole, and this is said.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from neurok.errors import FormatError, NeurokError
from neurok.generation.framing import MARGIN, PLAIN
from neurok.generation.picture_reader import SIDE, PictureReader, Reading

FORMATS = ("PNG", "JPEG", "WEBP")
Status = Literal["transparent", "cut out", "whole"]


# Limits of what is read, and thresholds of the cut-out, set on renders before plain and other grounds.
LEAST_SIDE = 16  # pixels of the given picture's shorter side
MOST_PIXELS = 64_000_000  # larger pictures are refused before they are decoded
WORK_SIDE = 384  # the cut-out is made on a picture of at most this many pixels along its longer side
BLANK = 0.02  # a picture whose colours all lie in so narrow a range (0..1) shows nothing
BORDER = 0.04  # width of the border that shows the background, as a share of the shorter side
INLIER = 0.07  # distance in sRGB (0..1) up to which a pixel may be of the smooth background
PLAIN_SHARE = 0.65  # share of the border that must be of a plain background; the object may touch the rest
TWO_GROUNDS = 0.93  # where one background explains less of the border, a wall above a floor must explain more
NOISE = 5.0  # pixels are of the object when they differ from the background by so many times what the border does
JOIN = 0.015  # pieces nearer than this share of the longer side hang together, such as leaves on thin stems
LEAST_SHARE, MOST_SHARE = 0.004, 0.95  # share of the picture that an object may cover


AGREE = 0.55  # overlap with the reader's mask (intersection over union) from which a plain cut-out is believed
SURE, UNSURE = 0.9, 0.06  # shares of the reader's mask from and up to which pixels are certain
CUT_SIDE = 112  # pixels along the longer side of the picture that is cut by colours
COLOURS = 5  # Gaussians of each side's colours
SMOOTH = 4.0  # what a border between two pixels of the same colour costs
ROUNDS = 3
PIECE = 0.08  # pieces with a smaller share of the largest one's pixels are dropped


@dataclass(frozen=True, eq=False)
class Photo:
    """A picture of one object, cut out and read."""

    pixels: Float[np.ndarray, "S S 3"]
    """sRGB, 0..1: the object in the middle of plain grey."""

    mask: Bool[np.ndarray, "S S"]
    """Where it is; everywhere if the picture was used whole."""

    reading: Reading
    status: Status
    coverage: float
    """Share of the given picture that the object covers; 1 if it was used whole."""

    note: str
    """What was done, in a sentence."""


def read_photo(path: str | Path, reader: PictureReader) -> Photo:
    """Read a PNG, JPEG or WebP picture of one object.

    Raises:
        NeurokError: If there is no such file, or the picture is too large, too small or blank.
        FormatError: If it cannot be read as a picture.
    """
    path = Path(path)
    if not path.is_file():
        raise NeurokError(f"There is no picture '{path}'; give a file of type PNG, JPEG or WebP.")
    return photo_of(_decoded(path), reader, f"'{path}'")


def photo_of(pixels: np.ndarray, reader: PictureReader, name: str = "The picture") -> Photo:
    """The same for pixels in memory: ``(H, W, 3 or 4)``, bytes or numbers 0..1.

    Raises:
        NeurokError: If it is no picture, too large, too small or blank.
    """
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise NeurokError(f"{name} must have height, width and 3 or 4 channels, got an array of shape {pixels.shape}.")
    _check_size(pixels.shape[1], pixels.shape[0], name)
    step = max(1, max(pixels.shape) // (4 * WORK_SIDE))
    pixels = pixels[::step, ::step]  # before numbers take eight bytes each
    from scipy import ndimage

    rgba = pixels / 255.0 if pixels.dtype == np.uint8 else np.asarray(pixels, dtype=float)
    if not (np.isfinite(rgba).all() and rgba.min() >= 0.0 and rgba.max() <= 1.0):
        raise NeurokError(f"{name} must have colours as bytes or as numbers from 0 to 1.")
    rgba = _shrunk(rgba, WORK_SIDE)
    rgb, alpha = rgba[..., :3], rgba[..., 3] if rgba.shape[2] == 4 else np.ones(rgba.shape[:2])
    _check_content(rgb, alpha, name)
    if (alpha < 0.5).mean() > LEAST_SHARE:
        return _framed(rgb, alpha, reader, None, "transparent", "The picture's own transparency was used.")
    whole = _square(rgb, np.median(_border_pixels(rgb), axis=0), SIDE)
    reading = reader.read(whole)
    likely = _unsquared(reading.mask, rgb.shape[:2])
    mask, note = cut_out(rgb), "The object was cut out of a plain background."
    if mask is None or overlap(mask, likely > 0.5) < AGREE:
        mask, note = refined(rgb, likely), "The object was cut out by what it looks like."
    if mask is None:
        note = (
            "No object stands out from the background: the picture was used whole. "
            "A plain background, or one that is transparent, gives better results."
        )
        return Photo(whole, np.ones((SIDE, SIDE), dtype=bool), reading, "whole", 1.0, note)
    soft = np.clip(ndimage.gaussian_filter(mask.astype(float), 0.8), 0.0, 1.0)
    return _framed(rgb, soft, reader, whole, "cut out", note)


def _decoded(path: Path) -> np.ndarray:
    """Pixels of a file, turned upright and at most about twice as large as needed."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below is lower
            image: Any = Image.open(path, formats=FORMATS)
        _check_size(image.width, image.height, f"'{path}'")
        image.draft("RGB", (2 * WORK_SIDE, 2 * WORK_SIDE))
        image = ImageOps.exif_transpose(image)
        if image.mode.startswith(("I", "F")):  # 16 bits of grey
            grey = np.asarray(image, dtype=float)
            return np.repeat((grey / max(65535.0, float(grey.max())))[..., None], 3, axis=2).clip(0.0, 1.0)
        has_alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
        image = image.convert("RGBA" if has_alpha else "RGB")
        image.thumbnail((2 * WORK_SIDE, 2 * WORK_SIDE))
        return np.asarray(image)
    except Image.DecompressionBombError:
        raise NeurokError(_too_large(f"'{path}' is far too large")) from None
    except (OSError, ValueError, SyntaxError, EOFError, IndexError) as error:
        raise FormatError(
            f"'{path}' cannot be read as a picture ({str(error).rstrip('.')}); PNG, JPEG and WebP are read. "
            "Save it anew in one of these."
        ) from error


def _check_size(width: int, height: int, name: str) -> None:
    if width * height > MOST_PIXELS:
        raise NeurokError(_too_large(f"{name} has {width}x{height} pixels"))
    if min(width, height) < LEAST_SIDE:
        raise NeurokError(
            f"{name} has {width}x{height} pixels; at least {LEAST_SIDE} on each side are needed. Give a larger picture."
        )


def _too_large(what: str) -> str:
    return f"{what}; at most {MOST_PIXELS / 1e6:.0f} million pixels are allowed. Scale it down."


def _check_content(rgb: np.ndarray, alpha: np.ndarray, name: str) -> None:
    from scipy import ndimage

    seen = alpha > 0.5
    if not seen.any():
        raise NeurokError(f"{name} is transparent everywhere; give a picture that shows one object.")
    smooth = ndimage.uniform_filter(rgb, (3, 3, 1))[seen]
    is_one_colour = float((smooth.max(axis=0) - smooth.min(axis=0)).max()) < BLANK
    if is_one_colour and seen.mean() > MOST_SHARE:
        raise NeurokError(f"{name} has one colour everywhere; give a picture that shows one object.")


def overlap(one: Bool[np.ndarray, "H W"], other: Bool[np.ndarray, "H W"]) -> float:
    """Intersection over union."""
    return float((one & other).sum() / max(1, (one | other).sum()))


def refined(rgb: Float[np.ndarray, "H W 3"], likely: Float[np.ndarray, "H W"]) -> Bool[np.ndarray, "H W"] | None:
    """Which pixels show the object, by how likely that is and by a minimal cut between the colours of both sides."""
    from scipy import ndimage

    factor = min(1.0, CUT_SIDE / max(rgb.shape[:2]))
    size = round(rgb.shape[1] * factor), round(rgb.shape[0] * factor)
    small, prior = _resized(rgb, *size), _resized(likely[..., None], *size)[..., 0]
    if not LEAST_SHARE <= (prior > 0.5).mean() <= MOST_SHARE:
        return None
    mask, certain = prior > 0.5, np.where(prior > SURE, 1.0, np.where(prior < UNSURE, -1.0, 0.0))
    shares = np.clip(prior, 0.02, 0.98)
    for _ in range(ROUNDS):
        if min(mask.sum(), (~mask).sum()) < 4 * COLOURS:
            return None
        gain = _surprise(small, ~mask) - _surprise(small, mask) + np.log(shares / (1.0 - shares))
        mask = _minimal_cut(small, np.clip(gain, -15.0, 15.0) + 1e3 * certain)
    labels, count = ndimage.label(mask)
    if count == 0:
        return None
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    mask = np.isin(labels, 1 + np.flatnonzero(sizes > PIECE * sizes.max()))
    mask = _resized(mask[..., None].astype(float), rgb.shape[1], rgb.shape[0])[..., 0] > 0.5
    return mask if LEAST_SHARE <= mask.mean() <= MOST_SHARE else None


def _surprise(rgb: Float[np.ndarray, "H W 3"], among: Bool[np.ndarray, "H W"]) -> Float[np.ndarray, "H W"]:
    """Minus log density of all colours in a mixture of Gaussians around the clusters of some."""
    from scipy.cluster.vq import kmeans2

    some = rgb[among]
    _, label = kmeans2(some, COLOURS, iter=8, minit="++", rng=0, missing="warn")
    out = np.full(rgb.shape[:2], np.inf)
    for k in np.unique(label):
        own = some[label == k]
        spread = np.cov(own.T) + 1e-3 * np.eye(3) if len(own) > 3 else 4e-3 * np.eye(3)
        off = rgb - own.mean(axis=0)
        far = np.einsum("hwi,ij,hwj->hw", off, np.linalg.inv(spread), off)
        cost = 0.5 * (far + np.linalg.slogdet(spread)[1]) - np.log(len(own) / len(some))
        out = np.minimum(out, cost)
    return out


def _minimal_cut(rgb: Float[np.ndarray, "H W 3"], gain: Float[np.ndarray, "H W"]) -> Bool[np.ndarray, "H W"]:
    """The pixels of the object whose gains, less the length of their border where colours are alike, sum to most."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    count, number = gain.size, np.arange(gain.size).reshape(gain.shape)
    first, second, costs = [], [], []
    steps = (np.diff(rgb, axis=0), np.diff(rgb, axis=1))
    sharp = 1.0 / (2.0 * np.mean([np.mean((step**2).sum(axis=2)) for step in steps]) + 1e-9)
    for axis, step in enumerate(steps):
        near, far = (number[:-1], number[1:]) if axis == 0 else (number[:, :-1], number[:, 1:])
        first.append(near.ravel())
        second.append(far.ravel())
        costs.append(SMOOTH * np.exp(-sharp * (step**2).sum(axis=2)).ravel())
    a, b, c = map(np.concatenate, (first, second, costs))
    source, sink, flat = count, count + 1, gain.ravel()
    start = np.concatenate([a, b, np.full(count, source), np.arange(count)])
    end = np.concatenate([b, a, np.arange(count), np.full(count, sink)])
    room = np.concatenate([c, c, np.maximum(flat, 0.0), np.maximum(-flat, 0.0)])
    graph = coo_array(((100.0 * room).astype(np.int32), (start, end)), shape=(count + 2, count + 2)).tocsr()
    left = graph - maximum_flow(graph, source, sink).flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    out = np.zeros(count + 2, dtype=bool)
    out[reached] = True
    return out[:count].reshape(gain.shape)


def cut_out(rgb: Float[np.ndarray, "H W 3"]) -> Bool[np.ndarray, "H W"] | None:
    """Which pixels show the object; nothing where the background is not plain."""
    from scipy import ndimage

    behind, share, spread = _background(rgb)
    far = np.linalg.norm(rgb - behind, axis=2)
    if share < TWO_GROUNDS:
        two = _wall_and_floor(rgb)
        far, share, spread = two if two[1] > max(share, TWO_GROUNDS) else (far, share, spread)
    if share < PLAIN_SHARE:
        return None
    mask = far > max(NOISE * spread, INLIER / 2.0)
    mask = ndimage.binary_opening(mask) | (far > 4.0 * INLIER)  # specks go, thin dark lines stay
    reach = max(1, round(JOIN * max(rgb.shape[:2])))
    joined = ndimage.binary_dilation(mask, iterations=reach)
    labels, count = ndimage.label(joined)
    if count == 0:
        return None
    sizes = np.bincount(labels[mask], minlength=count + 1)
    mask &= labels == int(np.argmax(sizes[1:])) + 1
    covered = float(mask.mean())
    return mask if LEAST_SHARE <= covered <= MOST_SHARE else None


def _border_pixels(values: np.ndarray) -> np.ndarray:
    """Rows of those that lie at the border."""
    width = max(2, round(BORDER * min(values.shape[:2])))
    inside = np.zeros(values.shape[:2], dtype=bool)
    inside[width:-width, width:-width] = True
    return values[~inside]


def _wall_and_floor(rgb: np.ndarray) -> tuple[Float[np.ndarray, "H W"], float, float]:
    """How far pixels are from the nearer of two grounds, the share of the border that these explain, and how far that
    strays: pixels of the border belong to the ground whose colour, that of the upper or the lower side, is nearer."""
    sides = np.stack([np.median(rgb[row], axis=0) for row in (0, -1)])
    border = _border_pixels(rgb)
    is_lower = np.linalg.norm(border[:, None] - sides, axis=2).argmin(axis=1) == 1
    if not 0.0 < is_lower.mean() < 1.0:
        return np.zeros(rgb.shape[:2]), 0.0, 0.0
    (wall, upper, one), (floor, lower, two) = (_background(rgb, among) for among in (~is_lower, is_lower))
    far = np.minimum(*(np.linalg.norm(rgb - behind, axis=2) for behind in (wall, floor)))
    return far, upper * float((~is_lower).mean()) + lower * float(is_lower.mean()), max(one, two)


def _background(rgb: np.ndarray, among: Bool[np.ndarray, " N"] | None = None) -> tuple[np.ndarray, float, float]:
    """Smooth colours fitted to the border, the share of the border that they explain, and how far that strays.

    Colours are quadratic in the place. The fit is repeated with what lies ever nearer to it, so that an object that
    touches the border is left out.
    """
    v, u = np.meshgrid(*(np.linspace(-1.0, 1.0, count) for count in rgb.shape[:2]), indexing="ij")
    terms = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=2)
    places, colours = _border_pixels(terms), _border_pixels(rgb)
    if among is not None:
        places, colours = places[among], colours[among]
    near = np.ones(len(colours), dtype=bool)
    weights, far = np.zeros((6, 3)), np.zeros(len(colours))
    for widening in (6.0, 4.0, 3.0, 2.0, 1.0, 1.0):
        weights = np.linalg.lstsq(places[near], colours[near], rcond=None)[0]
        far = np.linalg.norm(colours - places @ weights, axis=1)
        near = far < widening * INLIER
        if near.sum() < len(terms[0, 0]):
            return np.zeros_like(rgb), 0.0, 0.0
    return terms @ weights, float(near.mean()), float(np.sqrt((far[near] ** 2).mean()))


def _framed(
    rgb: np.ndarray, alpha: np.ndarray, reader: PictureReader, whole: np.ndarray | None, status: Status, note: str
) -> Photo:
    """The object alone on the plain background, in the middle with a margin around it, and read there, too."""
    rows, columns = np.flatnonzero((alpha > 0.5).any(axis=1)), np.flatnonzero((alpha > 0.5).any(axis=0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    margin = MARGIN / (1.0 - 2.0 * MARGIN)
    free = max(1, round(margin * max(bottom - top, right - left)))
    mixed = rgb * alpha[..., None] + PLAIN * (1.0 - alpha[..., None])
    mixed = np.concatenate([mixed, alpha[..., None]], axis=2)
    fill = np.array([PLAIN, PLAIN, PLAIN, 0.0])
    wide = np.broadcast_to(fill, (*(side + 2 * free for side in alpha.shape), 4)).copy()
    wide[free:-free, free:-free] = mixed
    square = _square(wide[top : bottom + 2 * free, left : right + 2 * free], fill, SIDE)
    pixels, mask = square[..., :3], square[..., 3] > 0.5
    reading = reader.read(*(() if whole is None else (whole,)), pixels)
    return Photo(pixels, mask, reading, status, float((alpha > 0.5).mean()), note)


def _unsquared(values: Float[np.ndarray, "K K"], size: tuple[int, int]) -> Float[np.ndarray, "H W"]:
    """What was said of a padded square, for the picture in it."""
    longest = max(size)
    large = _resized(values[..., None], longest, longest)[..., 0]
    top, left = ((longest - side) // 2 for side in size)
    return large[top : top + size[0], left : left + size[1]]


def _square(rgb: np.ndarray, fill: np.ndarray, side: int) -> Float[np.ndarray, "S S C"]:
    """Padded to a square and scaled."""
    height, width = rgb.shape[:2]
    size = max(height, width)
    square = np.broadcast_to(fill, (size, size, len(fill))).copy()
    top, left = (size - height) // 2, (size - width) // 2
    square[top : top + height, left : left + width] = rgb
    return _resized(square, side, side)


def _shrunk(rgba: np.ndarray, longest: int) -> np.ndarray:
    """At most so many pixels along the longer side; colours are weighed by how opaque they are."""
    height, width = rgba.shape[:2]
    factor = min(1.0, longest / max(height, width))
    if factor == 1.0:
        return rgba
    size = max(1, round(width * factor)), max(1, round(height * factor))
    if rgba.shape[2] == 3:
        return _resized(rgba, *size)
    small = _resized(np.concatenate([rgba[..., :3] * rgba[..., 3:], rgba[..., 3:]], axis=2), *size)
    small[..., :3] /= np.maximum(small[..., 3:], 1e-6)
    return small.clip(0.0, 1.0)


def _resized(values: np.ndarray, width: int, height: int) -> np.ndarray:
    """Each channel scaled with anti-aliasing."""
    from PIL import Image

    planes = (Image.fromarray(np.ascontiguousarray(values[..., c], dtype=np.float32)) for c in range(values.shape[2]))
    scaled = [np.asarray(plane.resize((width, height), Image.Resampling.BILINEAR)) for plane in planes]
    return np.stack(scaled, axis=2).astype(float).clip(0.0, 1.0)
