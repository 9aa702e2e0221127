"""Pictures that people give: what is cut out is the object, and what cannot be used is told in a sentence."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from neurok.errors import FormatError, NeurokError
from neurok.generation.framing import PLAIN
from neurok.generation.photo import MARGIN, cut_out, overlap, photo_of, read_photo
from neurok.generation.picture_reader import MASK, SIDE, TURNS, Reading

RED = (0.8, 0.1, 0.1)


class Told:
    """A reader that takes what is red for the object, and what differs from the corner where nothing is."""

    def read(self, *pictures: np.ndarray) -> Reading:
        first = pictures[0]
        red = (first[..., 0] - first[..., 1] > 0.3) | (np.abs(first - first[0, 0]).max(axis=2) > 0.15) * self.is_plain
        small = red.reshape(MASK, SIDE // MASK, MASK, SIDE // MASK).mean(axis=(1, 3))
        return Reading({"box": 1.0}, {}, {}, {}, {}, (0.0, 0.0), np.ones(TURNS) / TURNS, 20.0, small)

    def __init__(self, is_plain: bool = True) -> None:
        self.is_plain = is_plain


READER = Told()


def scene(background: np.ndarray, box=(60, 140, 80, 200), colour=RED) -> np.ndarray:
    """A coloured box (top, bottom, left, right) before a background."""
    out = np.array(background, dtype=float)
    out[box[0] : box[1], box[2] : box[3]] = colour
    return out


def plain(height=200, width=300, grey=0.7) -> np.ndarray:
    return np.full((height, width, 3), grey)


def shaded(height=200, width=300) -> np.ndarray:
    ramp = np.linspace(0.45, 0.85, width)[None, :, None] - np.linspace(0.0, 0.15, height)[:, None, None] ** 2
    return np.repeat(ramp, 3, axis=2)


@pytest.mark.parametrize("background", [plain(), shaded(), plain(grey=1.0), plain(grey=0.0)])
def test_a_box_before_a_plain_or_smoothly_shaded_background_is_cut_out_exactly(background):
    mask = cut_out(scene(background))
    expected = np.zeros(background.shape[:2], dtype=bool)
    expected[60:140, 80:200] = True
    np.testing.assert_array_equal(mask, expected)


def test_noise_and_specks_do_not_count_as_objects():
    rng = np.random.default_rng(0)
    noisy = np.clip(scene(plain()) + rng.normal(0.0, 0.015, (200, 300, 3)), 0.0, 1.0)
    noisy[20:23, 20:23] = (0.0, 0.0, 1.0)
    mask = cut_out(noisy)
    assert mask[60:140, 80:200].mean() > 0.99
    assert mask.sum() < 1.02 * 80 * 120
    assert not mask[20:23, 20:23].any()


def test_an_object_that_touches_the_border_is_still_cut_out():
    mask = cut_out(scene(plain(), box=(60, 200, 80, 160)))
    assert mask.sum() == 140 * 80


def test_what_stands_before_a_wall_on_a_floor_is_cut_out_exactly():
    picture = np.zeros((200, 240, 3))
    picture[:120], picture[120:] = (0.8, 0.75, 0.7), (0.45, 0.35, 0.3)
    picture += np.random.default_rng(0).normal(0.0, 0.01, picture.shape)
    picture[60:170, 80:150] = (0.1, 0.2, 0.6)
    mask = cut_out(picture.clip(0.0, 1.0))
    wanted = np.zeros((200, 240), dtype=bool)
    wanted[60:170, 80:150] = True
    assert (mask != wanted).mean() < 1e-3


def test_the_object_stands_in_the_middle_with_its_margin():
    photo = photo_of(scene(plain(), box=(20, 60, 20, 140)), READER)
    assert photo.status == "cut out"
    assert photo.pixels.shape == (SIDE, SIDE, 3)
    red = np.linalg.norm(photo.pixels - RED, axis=2) < 0.1
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    assert columns[0] + columns[-1] == pytest.approx(SIDE - 1, abs=3)
    assert rows[0] + rows[-1] == pytest.approx(SIDE - 1, abs=3)
    assert len(columns) / SIDE == pytest.approx(1 - 2 * MARGIN, abs=0.03)
    assert len(columns) / len(rows) == pytest.approx(120 / 40, rel=0.1)
    np.testing.assert_allclose(photo.pixels[0, 0], PLAIN, atol=1e-6)


def test_the_place_of_the_object_does_not_matter():
    near, far = (photo_of(scene(plain(), box=(y, y + 80, x, x + 120)), READER) for y, x in ((10, 10), (100, 150)))
    np.testing.assert_allclose(near.pixels, far.pixels, atol=1e-9)


def checker() -> np.ndarray:
    odd = (np.arange(200)[:, None] // 10 + np.arange(300) // 10) % 2
    return np.repeat(odd[..., None] * 0.8, 3, axis=2)


def test_before_a_checker_the_object_is_cut_out_by_where_the_reader_sees_it():
    photo = photo_of(scene(checker()), Told(is_plain=False))
    assert photo.status == "cut out"
    assert photo.coverage == pytest.approx(80 * 120 / (200 * 300), rel=0.1)
    red = np.linalg.norm(photo.pixels - RED, axis=2) < 0.2
    assert overlap(photo.mask, red) > 0.9


def test_where_the_reader_sees_nothing_the_picture_is_used_whole_and_that_is_said():
    photo = photo_of(scene(checker(), colour=(0.8, 0.8, 0.8)), Told(is_plain=False))
    assert photo.status == "whole"
    assert "used whole" in photo.note
    assert photo.coverage == 1.0


def test_transparency_is_used_where_there_is_some(tmp_path):
    rgba = np.zeros((100, 100, 4), dtype=np.uint8)
    rgba[30:70, 40:60] = (255, 0, 0, 255)
    Image.fromarray(rgba).save(tmp_path / "cut.png")
    photo = read_photo(tmp_path / "cut.png", READER)
    assert photo.status == "transparent"
    assert photo.coverage == pytest.approx(0.08)
    np.testing.assert_allclose(photo.pixels[SIDE // 2, SIDE // 2], (1.0, 0.0, 0.0), atol=1e-6)


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_all_three_formats_are_read_alike(suffix, tmp_path):
    pixels = (255 * scene(plain())).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / f"box.{suffix}", quality=95)
    assert np.abs(read_photo(tmp_path / f"box.{suffix}", READER).pixels - photo_of(pixels, READER).pixels).mean() < 0.01


def test_a_photograph_is_turned_upright(tmp_path):
    pixels = (255 * scene(plain(), box=(20, 60, 20, 140))).astype(np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise
    Image.fromarray(np.rot90(pixels)).save(tmp_path / "turned.png", exif=exif)
    np.testing.assert_allclose(
        read_photo(tmp_path / "turned.png", READER).pixels, photo_of(pixels, READER).pixels, atol=1e-6
    )


def test_sixteen_bits_of_grey_and_palettes_are_read(tmp_path):
    grey = np.full((60, 60), 50_000, dtype=np.uint16)
    grey[20:40, 20:40] = 10_000
    Image.fromarray(grey).save(tmp_path / "grey.png")
    assert read_photo(tmp_path / "grey.png", READER).pixels[SIDE // 2, SIDE // 2, 0] == pytest.approx(
        10_000 / 65_535, abs=0.01
    )
    Image.fromarray((255 * scene(plain())).astype(np.uint8)).quantize(16).save(tmp_path / "palette.png")
    assert read_photo(tmp_path / "palette.png", READER).status == "cut out"


def headed_png(width: int, height: int) -> bytes:
    """A file that says that it has so many pixels, and has none."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", b""), (b"IEND", b"")]
    packed = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize(("width", "height"), [(20_000, 4_000), (30_000, 30_000), (2_000_000_000, 16)])
def test_huge_pictures_are_refused_before_they_are_decoded(width, height, tmp_path):
    (tmp_path / "huge.png").write_bytes(headed_png(width, height))
    with pytest.raises(NeurokError, match=r"huge.png.* at most 64 million pixels are allowed. Scale it down"):
        read_photo(tmp_path / "huge.png", READER)


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_picture_is_told(content, tmp_path):
    (tmp_path / "bad.png").write_bytes(content)
    with pytest.raises(FormatError, match="cannot be read as a picture"):
        read_photo(tmp_path / "bad.png", READER)


def test_a_file_that_ends_too_early_is_told(tmp_path):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (200, 200, 3), dtype=np.uint8)).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:4000])
    with pytest.raises(FormatError, match="cannot be read"):
        read_photo(tmp_path / "cut.png", READER)


def test_other_formats_missing_files_and_folders_are_told(tmp_path):
    Image.new("RGB", (40, 40)).save(tmp_path / "old.bmp")
    with pytest.raises(FormatError, match="PNG, JPEG and WebP are read"):
        read_photo(tmp_path / "old.bmp", READER)
    for path in (tmp_path, tmp_path / "none.png"):
        with pytest.raises(NeurokError, match="There is no picture"):
            read_photo(path, READER)


@pytest.mark.parametrize("channels", [(0.4, 0.4, 0.4), (1.0, 1.0, 1.0), (0.2, 0.5, 0.9)])
def test_pictures_of_one_colour_are_told(channels):
    with pytest.raises(NeurokError, match="one colour everywhere"):
        photo_of(np.broadcast_to(channels, (64, 64, 3)), READER)


def test_empty_small_and_wrong_arrays_are_told():
    with pytest.raises(NeurokError, match="transparent everywhere"):
        photo_of(np.zeros((64, 64, 4), dtype=np.uint8), READER)
    with pytest.raises(NeurokError, match="at least 16"):
        photo_of(np.zeros((64, 8, 3), dtype=np.uint8), READER)
    with pytest.raises(NeurokError, match="3 or 4 channels"):
        photo_of(np.zeros((64, 64)), READER)
    with pytest.raises(NeurokError, match="numbers from 0 to 1"):
        photo_of(np.full((64, 64, 3), 7.0), READER)
