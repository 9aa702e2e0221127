"""Changed pictures stay pictures, follow from their generator, and show what they showed."""

import math
from dataclasses import replace

import pytest
import torch

from neurok.generation.framing import MARGIN, PLAIN, framed, on_plain
from neurok_lab.data.augmentation import (
    BACKGROUNDS,
    AugmentationConfig,
    augment,
    cosine_basis,
    hue_turn,
    random_backgrounds,
)


def changed_by(*given) -> torch.Tensor:
    """The pictures alone."""
    return augment(*given)[0]


STILL = AugmentationConfig(
    plain=1.0,
    still=1.0,
    brightness=(1.0, 1.0),
    contrast=0.0,
    saturation=0.0,
    tint=0.0,
    hue=0.0,
    greyscale=0.0,
    blur=0.0,
    noise=0.0,
    compressed=0.0,
)


def pictures(count: int = 6, side: int = 32) -> torch.Tensor:
    return torch.randint(0, 256, (count, side, side, 4), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_same_generator_gives_the_same_pictures():
    torch.testing.assert_close(changed_by(pictures(), generator()), changed_by(pictures(), generator()))
    assert not torch.equal(changed_by(pictures(), generator()), changed_by(pictures(), generator(1)))


def test_without_changes_a_picture_stands_on_the_plain_background():
    torch.testing.assert_close(changed_by(pictures(), generator(), STILL), on_plain(pictures()), atol=1e-5, rtol=0)


def test_what_is_transparent_shows_the_background_alone():
    empty = torch.zeros(4, 32, 32, 4, dtype=torch.uint8)
    torch.testing.assert_close(on_plain(empty), torch.full((4, 3, 32, 32), PLAIN))


def test_all_colours_stay_between_0_and_1():
    changed = changed_by(pictures(64), generator())
    assert changed.min() >= 0.0
    assert changed.max() <= 1.0


def test_a_square_keeps_its_share_of_the_picture_when_shifted_and_turned():
    square = torch.zeros(32, 64, 64, 4, dtype=torch.uint8)
    square[:, 24:40, 24:40] = 255
    shown = changed_by(square, generator(), replace(STILL, still=0.0, scale=(1.0, 1.0)))
    covered = ((shown - PLAIN) / (1.0 - PLAIN)).mean(dim=(1, 2, 3))
    torch.testing.assert_close(covered, torch.full((32,), (16 / 64) ** 2), atol=2e-3, rtol=0)


def test_greyscale_has_equal_channels():
    grey = changed_by(pictures(), generator(), replace(STILL, greyscale=1.0))
    torch.testing.assert_close(grey[:, 0], grey[:, 2])


def test_blur_keeps_the_mean_and_lowers_the_contrast():
    flat = torch.full((4, 32, 32, 4), 255, dtype=torch.uint8)
    flat[..., :3] = 100
    torch.testing.assert_close(changed_by(flat, generator(), replace(STILL, blur=1.0)), on_plain(flat))
    blurred = changed_by(pictures(), generator(), replace(STILL, blur=1.0))
    assert (blurred.std(dim=(2, 3)) < on_plain(pictures()).std(dim=(2, 3))).all()


def test_compression_errs_by_at_most_what_the_steps_allow():
    """Coefficients move by half a step each, and the transform keeps lengths."""
    config = replace(STILL, compressed=1.0)
    error = changed_by(pictures(), generator(), config) - on_plain(pictures())
    ramp = 1.0 + torch.arange(8.0)
    bound = 0.5 * config.compression * (ramp[:, None] + ramp - 1.0).norm()
    assert 0 < error.unfold(2, 8, 8).unfold(3, 8, 8).norm(dim=(-1, -2)).max() <= bound


def test_the_cosine_basis_is_orthonormal():
    torch.testing.assert_close(cosine_basis(8) @ cosine_basis(8).T, torch.eye(8))


def test_turning_the_hue_by_a_third_exchanges_the_channels_and_greys_stay():
    turn = hue_turn(torch.tensor([2.0 * math.pi / 3.0]))[0]
    torch.testing.assert_close(turn @ torch.eye(3)[:, 0], torch.eye(3)[:, 1], atol=1e-6, rtol=0)
    torch.testing.assert_close(turn @ torch.ones(3), torch.ones(3))


@pytest.mark.parametrize("kind", BACKGROUNDS)
def test_every_kind_of_background_is_a_picture_and_differs_between_pictures(kind):
    made = kind(5, 32, generator())
    assert made.shape == (5, 3, 32, 32)
    assert 0.0 <= made.min() <= made.max() <= 1.0
    assert (made[0] - made[1]).abs().mean() > 0.01


def test_the_asked_share_of_backgrounds_is_plain():
    made = random_backgrounds(400, 8, generator(), plain=0.3)
    plain = (made == PLAIN).all(dim=3).all(dim=2).all(dim=1).float().mean()
    assert plain == pytest.approx(0.3, abs=0.06)


def test_framed_objects_are_in_the_middle_and_of_one_size():
    pictures = torch.zeros(2, 112, 112, 4, dtype=torch.uint8)
    pictures[0, 10:30, 5:15] = torch.tensor([200, 10, 10, 255], dtype=torch.uint8)
    pictures[1, 40:100, 30:110] = torch.tensor([10, 200, 10, 255], dtype=torch.uint8)
    found = framed(pictures)
    for one, long_axis in zip(found, (0, 1), strict=True):
        alpha = one[..., 3] > 127
        ends = [torch.nonzero(alpha.any(dim=axis))[:, 0] for axis in (1, 0)]
        assert abs(len(ends[long_axis]) - (1 - 2 * MARGIN) * 112) <= 2
        for rows in ends:
            assert abs(float(rows[0] + rows[-1]) - 111) <= 2
    assert (found[0, 56, 56, :3] - torch.tensor([200, 10, 10])).abs().max() <= 1
    assert framed(torch.zeros(1, 112, 112, 4, dtype=torch.uint8)).shape == (1, 112, 112, 4)


def test_plain_backgrounds_stay_plain():
    pictures = torch.zeros(3, 112, 112, 4, dtype=torch.uint8)
    pictures[:, 40:70, 40:70] = 255
    config = AugmentationConfig(plain=1.0, still=1.0, brightness=(0.5, 0.5), noise=0.1)
    changed = changed_by(pictures, torch.Generator().manual_seed(0), config)
    assert (changed[:, :, :30] == PLAIN).all()
    assert changed[:, :, 50:60, 50:60].mean() < 0.7


def test_other_things_stand_behind_the_object_and_not_before_it():
    raw = torch.zeros(4, 64, 64, 4, dtype=torch.uint8)
    raw[:, 16:48, 16:48] = torch.tensor([255, 0, 0, 255], dtype=torch.uint8)
    others = torch.zeros(3, 64, 64, 4, dtype=torch.uint8)
    others[:] = torch.tensor([0, 255, 0, 255], dtype=torch.uint8)
    config = replace(STILL, plain=0.0, cluttered=1.0)
    rgb, mask = augment(raw, generator(), config, others)
    without, same = augment(raw, generator(), replace(config, cluttered=0.0), others)
    torch.testing.assert_close(mask, same)
    torch.testing.assert_close(rgb[:, 0, 20:44, 20:44], torch.ones(4, 24, 24))
    assert (mask[:, 20:44, 20:44] == 1.0).all()
    assert ((rgb - without).abs().amax(dim=1) > 0.05).float().mean() > 0.2
