"""The reader of pictures learns from what a trunk sees; what is learned from is never what is measured by."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.catalogue.categories import split_of
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.picture_reader import MASK, SIDE, PictureReader, ReaderConfig
from neurok.hub import load_model, save_model
from neurok_lab.data.household import is_real
from neurok_lab.data.household_pictures import PictureRow
from neurok_lab.evaluation.generation import held_out
from neurok_lab.train.generation import OFTEN, put_real
from neurok_lab.train.generation_data import ListExample
from neurok_lab.train.pictures import RECIPES, PictureTask, PictureTraining, Shown, losses
from neurok_lab.train.pictures_data import Labels, Maps, category_of, generated_sitters, labels_of

CONFIG = ReaderConfig(("bed", "chair"), ("back", "leg", "seat"), ("plain",), ("oak", "steel"))


def shown(count: int = 8) -> Shown:
    """Two kinds of pictures that differ in every cell."""
    kinds = np.arange(count) % 2
    signs = (2.0 * kinds - 1.0)[:, None, None, None]
    maps = Maps(
        *(np.tile(signs * np.ones((count, channels, side, side)), (2, 1, 1, 1)).astype(np.float16)
          for channels, side in ((40, 24), (112, 12), (320, 6))),
        masks=np.full((2 * count, MASK, MASK), 255, dtype=np.uint8),
        rows=np.tile(np.arange(count), 2),
        cut=count,
    )  # fmt: skip
    counts = np.stack([1 - kinds, 4 * kinds, np.ones(count, dtype=int)], axis=1).astype(np.uint8)
    style, views = np.zeros((count, 1), dtype=bool), np.zeros((count, 2), dtype=np.float32)
    listed = np.ones(count, dtype=bool)
    return Shown(maps, Labels(kinds, listed, counts, style, kinds, views, views))


def test_a_reader_learns_to_tell_two_kinds_apart():
    torch.manual_seed(0)
    recipe = replace(RECIPES["smoke"], model=CONFIG)
    task, module = PictureTraining(recipe, {"generated": shown(), "watch": shown()}), recipe.build()
    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], 1e-3)
    rng, generator = np.random.default_rng(0), torch.Generator()
    before = task.evaluate(module)
    for step in range(12):
        optimizer.zero_grad()
        module(*task.draw(module, step, rng, generator)).loss.backward()
        optimizer.step()
    after = task.evaluate(module)
    assert after["cut category"] < 0.5 * before["cut category"]
    assert after["busy right"] == 1.0
    assert all(value.grad is None for value in module.model.trunk.parameters())


def test_of_real_models_only_category_and_mask_are_learned():
    torch.manual_seed(0)
    some = shown()
    model = PictureReader(CONFIG).eval()
    maps, wanted = some.batch(np.arange(4))
    wanted = wanted | {"listed": torch.tensor([1.0, 1.0, 0.0, 0.0])}
    both = losses(model.answers(*maps), wanted)
    alone = losses(model.answers(*(one[:2] for one in maps)), {key: value[:2] for key, value in wanted.items()})
    for name in ("present", "count", "style", "material", "proportions", "azimuth", "elevation"):
        torch.testing.assert_close(both[name], alone[name])


def test_what_is_mirrored_is_seen_from_the_other_side():
    some = shown()
    some.labels.view[:, 0] = 0.5
    _, plain = some.batch(np.arange(4))
    _, mirrored = some.batch(np.arange(4), is_mirrored=True)
    torch.testing.assert_close(mirrored["azimuth"], -plain["azimuth"])


def test_labels_are_those_of_the_object_that_a_row_names():
    sitter = generated_sitters("train", 1)[CATEGORIES.index("chair")]
    rows = [PictureRow(sitter.name, "chair", 0), PictureRow("sofa_03.glb", "bed", 0)]
    names = ("arm", "back", "leg", "seat", *(f"other {k}" for k in range(2)))
    config = replace(CONFIG, parts=names)
    with pytest.raises(ValueError, match="not in"):  # a word that the reader has not
        labels_of(rows, replace(config, parts=()))
    from neurok_lab.train.pictures_data import _assembly

    assembly = _assembly(sitter.name)
    parts = tuple(sorted({part.name for part in assembly.parts}))
    materials = tuple(sorted({part.appearance.visible_material for part in assembly.parts}))
    labels = labels_of(rows, replace(config, parts=parts, materials=materials))
    assert labels.is_listed.tolist() == [True, False]
    assert labels.counts[0].sum() == sum(part.repeat.total for part in assembly.parts)
    assert not labels.counts[1].any()


def test_nothing_is_learned_from_that_figures_are_taken_of():
    numbers = {int(one.name.rpartition("/")[2]) for one in generated_sitters("train", 3)}
    assert all(split_of(number) == "train" for number in numbers)
    assert not numbers & {int(one.name.rpartition("/")[2]) for one in held_out(2)}


def test_names_of_models_tell_their_category():
    found = {name: category_of(name) for name in ("quaternius__Couch_Large1", "lampRoundFloor", "bear", "toilet")}
    assert found == {
        "quaternius__Couch_Large1": "sofa",
        "lampRoundFloor": "lamp",
        "bear": "teddy bear",
        "toilet": None,
    }


def test_a_reader_is_saved_with_its_words_and_read_back(tmp_path):
    torch.manual_seed(0)
    model = PictureTask(CONFIG).model.eval()
    save_model(model, tmp_path / "pictures.safetensors", {"what": "a test"})
    again = load_model(tmp_path / "pictures.safetensors", "pictures")
    assert again.config == CONFIG
    picture = np.random.default_rng(0).random((SIDE, SIDE, 3))
    one, other = (reader.read(picture) for reader in (model, again))
    assert one.categories == pytest.approx(other.categories, abs=0.02)
    assert sum(one.categories.values()) == pytest.approx(1.0)


def example(name: str) -> ListExample:
    nothing = np.zeros((0, 1))
    return ListExample(name, [0], [], [], nothing, nothing)


def test_real_models_have_a_share_but_none_is_drawn_too_often():
    real = [example(f"chair rocker {k}/{k}") for k in range(2)]
    rng = np.random.default_rng(0)

    def share(asked: float, total: int) -> float:
        batch = [example("chair 0/3")] * 20_000
        put_real(batch, real, asked, rng, total)
        return sum(is_real(one.name) for one in batch) / len(batch)

    assert share(0.25, 10) == pytest.approx(0.25, abs=0.02)
    assert share(0.25, 160) == pytest.approx(OFTEN * 2 / 160, abs=0.02)
    real.clear()
    assert share(0.25, 10) == 0.0
