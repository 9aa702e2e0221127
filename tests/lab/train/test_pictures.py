"""The image encoder is asked about pictures: right questions, right answers, and what it learned is handed on."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.errors import NeurokError
from neurok.generation.context import ContextConfig
from neurok.generation.fields import appearance_fields, build_fields
from neurok.generation.image_encoder import ImageConfig, ReaderConfig, part_fields
from neurok.generation.numbers import WIDTH
from neurok.generation.part_list import PartListConfig
from neurok.generation.writing import Generator
from neurok.hub import load_model, save_model
from neurok_lab.data.household import is_real
from neurok_lab.train.generation import OFTEN, BatchConfig, PartListRecipe, put_real
from neurok_lab.train.generation_data import ListExample, standard_of
from neurok_lab.train.loop import CHECKPOINT, train
from neurok_lab.train.pictures import (
    RECIPES,
    PictureRecipe,
    answers_of,
    encoder_from,
    known_names,
    reader_shipped,
    training_of,
)
from neurok_lab.train.ship import ship_generation

COLOUR = [field.name for field in appearance_fields()].index("colour")


def example(name: str, category: int, names: list[int], colour: int = 0, value: float = 0.5) -> ListExample:
    """A thing with a few parts of given names; its picture is as bright as its value."""
    build = [[number, *([0] * (len(build_fields()) - 1))] for number in names]
    finish = [[colour if k == COLOUR else 0 for k in range(len(appearance_fields()))] for _ in names]
    rows = np.full((len(names), WIDTH), value) + 0.1 * np.arange(len(names))[:, None]
    pictures = np.full((2, 112, 112, 4), round(255 * value), dtype=np.uint8)
    return ListExample(name, [category, 0, 0], build, finish, rows, np.ones_like(rows), pictures=pictures)


@pytest.fixture
def things() -> list[ListExample]:
    return [example("a", 0, [3, 4, 4], colour=2, value=0.1), example("b", 0, [5], value=0.9), example("c", 1, [7])]


def test_parts_that_are_there_are_asked_for_once_and_others_of_the_kind_too(things):
    answers = answers_of(things, known_names(things), standard_of(things), np.random.default_rng(0), 6)
    names, there = answers.names[0].tolist(), answers.present[0].tolist()
    assert {name for name, is_there in zip(names, there, strict=True) if is_there} == {3, 4}
    assert 5 in names
    assert not there[names.index(5)]
    assert 0 not in names


def test_answers_are_those_of_the_first_part_of_a_name(things):
    standard = standard_of(things)
    answers = answers_of(things, known_names(things), standard, np.random.default_rng(0), 6)
    place = answers.names[0].tolist().index(4)
    field = [one.name for one in part_fields()].index("colour")
    assert answers.fields[0, place, field] == 2
    expected = standard.to(things[0].rows, things[0].kinds)[1]
    np.testing.assert_allclose(answers.numbers[0, place].numpy(), expected, atol=1e-5)


def small(steps: int) -> PictureRecipe:
    image = ImageConfig(summary=16, width=16, heads=2)
    reader = ReaderConfig(image, width=16, heads=2, names=4)
    return PictureRecipe(model=reader, view=BatchConfig(3), steps=steps, warmup=1, evaluate_every=steps)


def test_a_reader_learns_and_the_list_begins_with_its_encoder(things, tmp_path):
    task = training_of(small(12), things, things)
    lines = []
    train(task, tmp_path, report=lines.append)
    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    fresh = small(12).build()
    assert lines[-1]["watched"]["loss"] < fresh(*task.draw(fresh, 0, rng, generator)).parts["loss"]

    usual = replace(PartListRecipe(), model=PartListConfig(ContextConfig(16, 2, 1), 16, 2, 1))
    module = usual.build()
    with pytest.raises(RuntimeError, match="size mismatch"):  # of other sizes
        encoder_from(tmp_path / CHECKPOINT)(module)


def test_only_the_last_layer_of_the_encoder_is_its_own_in_a_list(things, tmp_path):
    recipe = replace(small(1), model=ReaderConfig(width=16, heads=2, names=4))
    train(training_of(recipe, things, things), tmp_path)
    module = replace(PartListRecipe(), model=PartListConfig(ContextConfig(16, 2, 1), 16, 2, 1)).build()
    before = module.model.context.image.out.weight.clone()
    encoder_from(tmp_path / CHECKPOINT)(module)
    image = module.model.context.image
    torch.testing.assert_close(image.out.weight, before)
    learns = {name for name, weight in image.named_parameters() if weight.requires_grad}
    assert learns == {"out.weight", "out.bias"}


def test_a_run_of_pictures_goes_on_from_the_reader_of_shipped_weights():
    module = RECIPES["pictures"].build()
    reader_shipped("generation")(module)
    shipped = load_model("generation", "generation").reader.state_dict()
    for name, value in module.model.state_dict().items():
        torch.testing.assert_close(value, shipped[name])


def test_without_a_reader_it_goes_on_from_the_encoder_of_the_list(tmp_path):
    known = load_model("generation", "generation")
    save_model(Generator(known.part_list, known.flow), tmp_path / "w.safetensors", {"what": "no reader"})
    module = RECIPES["pictures"].build()
    own = module.model.image.out.weight.clone()
    reader_shipped(tmp_path / "w.safetensors")(module)
    shipped = known.part_list.context.image.state_dict()
    for name, value in module.model.image.state_dict().items():
        if not name.startswith("out."):
            torch.testing.assert_close(value, shipped[name], atol=1e-3, rtol=1e-3)  # stored in half precision
    torch.testing.assert_close(module.model.image.out.weight, own)


@pytest.mark.slow
def test_a_reader_is_shipped_with_the_list_and_the_flow_as_they_were(things, tmp_path):
    recipe = replace(
        PictureRecipe(), model=ReaderConfig(width=16, heads=2), steps=2, evaluate_every=1, view=BatchConfig(2)
    )
    train(training_of(recipe, things, things), tmp_path / "pictures")
    card = ship_generation({"pictures": tmp_path / "pictures"}, tmp_path / "w.safetensors", "generation")
    assert card["runs"]["reader"]["steps"] == 2
    before, after = (load_model(w, "generation") for w in ("generation", tmp_path / "w.safetensors"))
    for name, value in after.part_list.state_dict().items():
        torch.testing.assert_close(value, before.part_list.state_dict()[name], atol=0.0, rtol=0.0)
    assert after.reader.config.width == 16


def test_real_models_have_a_share_but_none_is_drawn_too_often(things):
    real = [replace(things[2], name=f"chair rocker {k}/{k}") for k in range(2)]
    rng = np.random.default_rng(0)

    def share(asked: float, total: int) -> float:
        batch = [replace(things[0], name="chair 0/3")] * 20_000
        put_real(batch, real, asked, rng, total)
        return sum(is_real(one.name) for one in batch) / len(batch)

    assert share(0.25, 10) == pytest.approx(0.25, abs=0.02)
    assert share(0.25, 160) == pytest.approx(OFTEN * 2 / 160, abs=0.02)
    real.clear()
    assert share(0.25, 10) == 0.0


def test_of_what_has_no_list_only_the_category_is_asked(things):
    bare = replace(things[2], build=[], look=[], rows=things[2].rows[:0], used=things[2].used[:0])
    torch.manual_seed(0)
    module = small(1).build().eval()
    pictures = torch.rand(3, 3, 112, 112, generator=torch.Generator().manual_seed(0))
    figures = []
    for some in (things[:2], [*things[:2], bare]):
        answers = answers_of(some, known_names(things), standard_of(things), np.random.default_rng(0), 4)
        figures.append(module(pictures[: len(some)], answers).parts)
    alone, beside = figures
    for name in ("present", "count", "colour", "material", "numbers"):
        assert beside[name] == pytest.approx(alone[name], rel=1e-5)
    assert beside["loss"] != pytest.approx(alone["loss"], rel=1e-5)


def test_lists_are_not_learned_from_what_has_none(things):
    bare = replace(things[2], build=[], look=[], rows=things[2].rows[:0], used=things[2].used[:0])
    assert len(training_of(PartListRecipe(), [*things, bare], things).examples) == len(things)
    assert len(training_of(PictureRecipe(), [*things, bare], things).examples) == len(things) + 1


def test_without_pictures_there_is_one_sentence(things):
    blind = [replace(one, pictures=None) for one in things]
    with pytest.raises(NeurokError, match="no pictures to learn from"):
        training_of(RECIPES["pictures-smoke"], blind, things)
