"""Tokens of pictures: one of the whole and one of each patch, fed by the whole picture, learned from."""

import pytest
import torch

from neurok.generation.framing import PLAIN
from neurok.generation.image_encoder import ImageConfig, ImageEncoder, edge_planes


@pytest.fixture
def encoder() -> ImageEncoder:
    torch.manual_seed(0)
    return ImageEncoder(96).eval()


def test_a_picture_becomes_a_token_and_one_for_each_patch(encoder):
    assert encoder(torch.rand(2, 3, 112, 112)).shape == (2, 50, 96)
    assert encoder.token_count == 50


def test_it_is_small():
    assert sum(p.numel() for p in ImageEncoder(192).parameters()) <= 1_600_000


def test_pictures_of_a_batch_do_not_see_each_other(encoder):
    pictures = torch.rand(3, 3, 112, 112)
    torch.testing.assert_close(encoder(pictures)[1:2], encoder(pictures[1:2]), atol=1e-5, rtol=1e-4)


def test_colours_and_outline_of_a_patch_are_the_means_of_its_squares(encoder):
    pictures = torch.full((2, 3, 112, 112), PLAIN)
    pictures[1, :, 32:48, 80:88] = torch.rand(3, 16, 8) * 0.5
    told = encoder.features(pictures)[1, 7 * 2 + 5, :64].view(4, 4, 4)
    patch = pictures[1, :, 32:48, 80:96]
    for row in range(4):
        for column in range(4):
            square = patch[:, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            torch.testing.assert_close(told[:3, row, column], 2.0 * (square - PLAIN).mean(dim=(1, 2)))
            assert told[3, row, column] == (column < 2)


def test_edges_are_told_by_their_direction():
    upright, level = torch.zeros(1, 3, 16, 16), torch.zeros(1, 3, 16, 16)
    upright[..., 8:], level[..., 8:, :] = 1.0, 1.0
    found = [edge_planes(one, 8).sum(dim=(0, 2, 3)) for one in (upright, level)]
    assert found[0].argmax() == 0
    assert found[1].argmax() == 4
    for strengths in found:
        assert strengths.max() == pytest.approx(32.0)  # two columns of sixteen pixels
        assert strengths.sum() == pytest.approx(32.0)


def test_every_token_hears_of_a_change_anywhere(encoder):
    pictures = torch.rand(1, 3, 112, 112)
    changed = pictures.clone()
    changed[:, :, :8, :8] = 0.0
    assert ((encoder(pictures) - encoder(changed)).abs().amax(dim=2) > 1e-6).all()


def test_gradients_reach_every_weight(encoder):
    encoder(torch.rand(2, 3, 112, 112)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in encoder.parameters())


@pytest.mark.slow
def test_it_learns_where_a_coloured_square_is_and_which_colour_it_has():
    torch.manual_seed(0)
    config = ImageConfig(side=48)
    encoder, head = ImageEncoder(32, config), torch.nn.Linear(32, 6)
    optimizer = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=1e-3)
    draw = torch.Generator().manual_seed(0)

    def batch():
        colour, right = torch.randint(3, (16,), generator=draw), torch.randint(2, (16,), generator=draw)
        pictures = torch.rand(16, 3, 48, 48, generator=draw) * 0.3
        for picture, c, r in zip(pictures, colour, right, strict=True):
            picture[c, 18:30, 24 * r + 6 : 24 * r + 18] += 0.6
        return pictures, 2 * colour + right

    for _ in range(200):
        pictures, answers = batch()
        loss = torch.nn.functional.cross_entropy(head(encoder(pictures).mean(dim=1)), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pictures, answers = batch()
    encoder.eval()
    assert (head(encoder(pictures).mean(dim=1)).argmax(dim=1) == answers).float().mean() > 0.9
