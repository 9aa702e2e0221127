"""Variations and edits of objects in files, with networks that have learned nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.catalogue import asset_of, generate
from neurok.catalogue.record import assembly_of, record_of
from neurok.core import Asset, Mesh
from neurok.errors import NeurokError
from neurok.generation.context import ContextConfig, conditioning_of
from neurok.generation.flow import FlowConfig
from neurok.generation.part_list import PartListConfig
from neurok.generation.vary import looked_at, read_source, vary
from neurok.generation.verb import LIST, listed_asset
from neurok.generation.writing import REDRAWING, Generator, Redrawer
from neurok.hub import load_model
from neurok.io import load, save


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    small = ContextConfig(width=16, heads=2, depth=1)
    part_list = PartListConfig(small, width=16, heads=2, depth=1)
    made = Generator.build(part_list, FlowConfig(small, width=16, heads=2, depth=1, steps=4)).eval()
    made.flow.spread.fill_(0.05)
    return made


@pytest.fixture(autouse=True)
def untrained(model, monkeypatch):
    for name in ("vary", "verb"):
        monkeypatch.setattr(
            f"neurok.generation.{name}.load_model",
            lambda weights, task: model if task == "generation" else load_model(weights, task),
        )
    monkeypatch.setattr("neurok.generation.vary.REDRAWING", replace(REDRAWING, given=0.98, tries=1))


@pytest.fixture(scope="module")
def chair():
    """As it is read from a file."""
    return listed_asset(generate("chair", 7, 110)[0], "a chair")[1]


def same(one, two):
    return record_of(replace(one, name=""))["parts"] == record_of(replace(two, name=""))["parts"]


@pytest.mark.parametrize("suffix", [".glb", ".npz"])
def test_files_hold_the_list_of_parts(tmp_path, chair, suffix):
    asset, written = listed_asset(chair, "a chair")
    save(asset, tmp_path / f"chair{suffix}")
    found = read_source(tmp_path / f"chair{suffix}")
    assert found.photo is None
    assert record_of(found.assembly) == record_of(written)
    for old, new in zip(written.parts, found.assembly.parts, strict=True):
        np.testing.assert_array_equal(old.code, new.code)
        np.testing.assert_array_equal(old.centre, new.centre)


def test_an_edit_keeps_what_is_not_named_bit_for_bit(tmp_path, chair):
    save(listed_asset(chair, "")[0], tmp_path / "chair.glb")
    made = vary(tmp_path / "chair.glb", edit="make the legs oak")[0]
    before, after = (record_of(one)["parts"] for one in (chair, made.assembly))
    assert [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [1]
    assert made.assembly.parts[1].appearance.material == "oak"
    np.testing.assert_array_equal(made.asset.mesh.bounds, asset_of(chair).mesh.bounds)
    assert made.bodies == 1
    assert record_of(assembly_of(json.loads(made.asset.provenance[LIST]))) == record_of(made.assembly)
    assert [use.word for use in made.words] == ["legs", "oak"]


def test_edits_follow_each_other(chair):
    first = vary(chair, edit="wider")[0]
    second = vary(first.asset, edit="a red seat")[0]
    assert second.assembly.parts[0].appearance.colour == "red"
    assert record_of(first.assembly)["parts"][1:] == record_of(second.assembly)["parts"][1:]
    assert np.ptp(second.assembly.bounds, axis=0)[0] > 1.1 * np.ptp(chair.bounds, axis=0)[0]


def test_variations_have_the_same_words_and_looks_and_differ(chair):
    one, two = vary(chair, count=2, seed=3)
    again = vary(chair, seed=3)[0]
    assert same(one.assembly, again.assembly)
    assert not same(one.assembly, two.assembly)
    for made in (one, two):
        assert [part.name for part in made.assembly.parts] == [part.name for part in chair.parts]
        assert [part.appearance for part in made.assembly.parts] == [part.appearance for part in chair.parts]


def test_variations_take_colours_from_the_text(chair):
    made = vary(chair, text="a chair with a red seat")[0]
    assert made.assembly.parts[0].appearance.colour == "red"
    assert made.assembly.parts[1].appearance == chair.parts[1].appearance


def test_nothing_changes_when_all_numbers_are_given(model, chair):
    """The flow has no way to go from there."""
    config = replace(REDRAWING, given=1.0, tries=1)
    other = Redrawer(model, conditioning_of([None]), torch.Generator().manual_seed(0), config).vary(chair).assembly
    for old, new in zip(chair.parts, other.parts, strict=True):
        np.testing.assert_allclose(new.centre, old.centre, atol=1e-5)
        np.testing.assert_allclose(new.size, old.size, atol=1e-5)


def test_a_replaced_part_keeps_its_name_count_and_look(model, chair):
    config = replace(REDRAWING, tries=1)
    drawer = Redrawer(model, conditioning_of([None]), torch.Generator().manual_seed(0), config)
    other = drawer.replace(chair, (3,), ("slatted",))
    for k, (old, new) in enumerate(zip(chair.parts, other.parts, strict=True)):
        assert (old is new) == (k != 3)
    assert other.parts[3].name == "back"
    assert other.parts[3].appearance == chair.parts[3].appearance
    assert other.parts[3].style[0] == "slatted"
    assert not np.array_equal(other.parts[3].code, chair.parts[3].code)


def test_a_part_is_added_between_those_there_are(model, chair):
    config = replace(REDRAWING, tries=1, least=0.0)
    other, number = Redrawer(model, conditioning_of([None]), torch.Generator().manual_seed(0), config).add(
        chair, ["armrest"]
    )
    assert other.parts[number].name == "armrest"
    assert other.parts[number].parent < number
    rest = [part for k, part in enumerate(other.parts) if k != number]
    for old, new in zip(chair.parts, rest, strict=True):
        assert old.name == new.name
        np.testing.assert_array_equal(old.centre, new.centre)
        if old.parent >= 0:
            assert chair.parts[old.parent].name == other.parts[new.parent].name


def test_an_unlikely_part_finds_no_place(model, chair):
    config = replace(REDRAWING, least=1.0)
    assert Redrawer(model, conditioning_of([None]), torch.Generator(), config).add(chair, ["drawer"]) is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"edit": "please"}, "says what to change"),
        ({"edit": "make the wings red"}, "its parts are: seat, leg, post, back"),
        ({"edit": "remove the seat"}, "cannot be removed"),
        ({"edit": "remove it"}, "Say which part to remove"),
        ({"edit": "x" * 3000}, "at most 2000"),
        ({"count": 0}, "ask for 1 to"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(chair, words, sentence):
    with pytest.raises(NeurokError, match=sentence):
        vary(chair, **words)


def test_other_meshes_are_looked_at(chair, monkeypatch):
    asked = []
    monkeypatch.setattr("neurok.generation.vary.generate", lambda text, image, **rest: asked.append(image) or [])
    mesh = asset_of(chair).mesh
    assert vary(Asset(mesh), seed=1) == []
    photo = asked[0]
    assert photo.pixels.shape == (192, 192, 3)
    assert 0.05 < photo.coverage < 0.9
    assert "only looked at" in photo.note
    np.testing.assert_array_equal(photo.pixels, looked_at(Asset(mesh)).pixels)


def test_a_damaged_list_is_not_read(chair):
    asset = asset_of(chair, {LIST: "{]"})
    found = read_source(asset)
    assert found.assembly is None
    assert "damaged" in found.notes[0]


def test_a_mesh_that_shows_nothing_is_refused():
    empty = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    with pytest.raises(NeurokError):
        vary(Asset(empty))


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(NeurokError):
        vary(tmp_path / "none.glb")


def test_a_list_travels_through_a_file_twice(tmp_path, chair):
    save(vary(chair, edit="taller")[0].asset, tmp_path / "one.glb")
    first = read_source(tmp_path / "one.glb").assembly
    save(vary(tmp_path / "one.glb", edit="a green seat")[0].asset, tmp_path / "two.glb")
    second = assembly_of(json.loads(load(tmp_path / "two.glb").provenance[LIST]))
    assert record_of(first)["parts"][1:] == record_of(second)["parts"][1:]
