"""Samples of parts and objects: variants, files, and what is kept aside."""

import numpy as np
import pytest
import torch

from neurok.catalogue import draw
from neurok.core import Asset, Mesh, Surface
from neurok.core.select import regions_of
from neurok.errors import NeurokError
from neurok.geometry.topology import is_watertight
from neurok.modelling.shapes import Shape, box, join
from neurok_lab.data.household_real import closed_solid, filled, is_kept_aside, pieces_of, real_assembly, real_models
from neurok_lab.parts.part_points import KINDS, in_box, signed_distance
from neurok_lab.parts.part_set import (
    PartRows,
    PartViewConfig,
    as_implicit,
    read_sets,
    rows_of,
    statistics_of,
    write_set,
)
from neurok_lab.parts.vecset import VecsetConfig
from neurok_lab.train.parts import RECIPES, ObjectViewConfig, PartTraining, VecsetRecipe, VecsetTraining


@pytest.fixture(scope="module")
def pillow():
    return draw("pillow", np.random.default_rng(0))


@pytest.fixture(scope="module")
def rows(pillow):
    return rows_of(pillow, np.random.default_rng(0))


def test_distances_to_a_box_are_the_closed_form():
    queries = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 1.0]])
    found = signed_distance(in_box(box((1.0, 3.0, 0.2)), np.array([1.0, 3.0, 0.2])), queries)
    np.testing.assert_allclose(found, [-1.0, -0.5, 1.0, np.sqrt(2.0)], atol=1e-9)


def test_an_implicit_part_fills_its_box_and_keeps_its_look(pillow):
    part = pillow.parts[0]
    other = as_implicit(part, part.copies[0].turn("z", 30))
    np.testing.assert_allclose(np.ptp(other.solid.bounds, axis=0), other.size)
    assert other.kind == "implicit"
    assert other.appearance == part.appearance


def test_sets_are_read_as_they_were_written(rows, tmp_path):
    write_set(tmp_path / "one.npz", *rows)
    parts, objects = read_sets(tmp_path)
    np.testing.assert_allclose(parts["code"], rows[0]["code"])
    np.testing.assert_allclose(objects["points"], rows[1]["points"], atol=2e-3)
    with pytest.raises(NeurokError, match="There are no samples"):
        read_sets(tmp_path / "nothing")


def test_turned_parts_keep_their_distances_but_not_their_kind(rows):
    some = PartRows.of(rows[0])
    count = len(some)
    statistics = tuple(torch.tensor(one) for one in statistics_of(rows[0]))
    view = PartViewConfig(parts=count, points=16, queries=16)
    plain = some.batch(np.arange(count), view, np.random.default_rng(0), statistics)
    turned = some.batch(np.arange(count), view, np.random.default_rng(0), statistics, np.ones(count, dtype=bool))
    assert (turned[1].kind == -1).all()
    torch.testing.assert_close(turned[1].distances, plain[1].distances)
    torch.testing.assert_close(turned[0].points.norm(dim=-1), plain[0].points.norm(dim=-1))
    torch.testing.assert_close(turned[0].aspect.sort(dim=-1).values, plain[0].aspect.sort(dim=-1).values)
    assert (plain[1].kind >= 0).all()
    assert int(plain[1].kind.max()) < len(KINDS)


@pytest.mark.slow
def test_both_autoencoders_go_through_the_loop(rows, tmp_path):
    from neurok.hub import load_model
    from neurok_lab.train.loop import train
    from neurok_lab.train.ship import ship

    some = PartRows.of(rows[0])
    train(PartTraining(RECIPES["smoke"], some, some), tmp_path / "parts", origin={})
    card = ship([tmp_path / "parts"], tmp_path / "parts.safetensors")
    model = load_model(tmp_path / "parts.safetensors", "parts")
    assert card["steps"] == 20
    assert model.config == RECIPES["smoke"].model
    recipe = VecsetRecipe(
        model=VecsetConfig(tokens=8, width=16, heads=2), view=ObjectViewConfig(objects=1, points=32, queries=16),
        steps=4, evaluate_every=4, warmup=1,
    )  # fmt: skip
    train(VecsetTraining(recipe, rows[1], rows[1]), tmp_path / "vecset")
    assert (tmp_path / "vecset" / "checkpoint.safetensors").exists()


def test_closed_triangles_stay_and_open_ones_become_a_wall():
    solid = box((1.0, 2.0, 3.0))
    assert closed_solid(solid.vertices, solid.faces).volume == pytest.approx(6.0)
    two = join([solid, box((1.0, 2.0, 3.0), (0.5, 0.0, 0.0))])
    assert closed_solid(two.vertices, two.faces).volume == pytest.approx(9.0)
    is_top = (solid.vertices[solid.faces][:, :, 1] > 0.99).all(axis=1)
    cup = closed_solid(solid.vertices, solid.faces[~is_top])
    assert is_watertight(cup.faces)
    assert 0.5 < cup.volume < 4.5
    np.testing.assert_allclose(np.ptp(cup.bounds, axis=0), [1.0, 2.0, 3.0])


def test_a_shell_of_loose_triangles_is_filled():
    solid = box((1.0, 2.0, 3.0))
    loose = Shape(solid.vertices[solid.faces.reshape(-1)], np.arange(3 * len(solid.faces)).reshape(-1, 3)[:, ::-1])
    found = filled(loose.vertices, loose.faces)
    assert found.volume == pytest.approx(6.0, rel=0.03)


def table_mesh() -> Mesh:
    top = box((1.0, 0.1, 1.0), (0.0, 0.5, 0.0))
    legs = [box((0.1, 0.5, 0.1), (x, 0.25, z)) for x in (-0.4, 0.4) for z in (-0.4, 0.4)]
    whole = join([top, *legs])
    looks = (Surface("wood", (0.5, 0.2, 0.1, 1.0)), Surface("steel", (0.6, 0.6, 0.6, 1.0)))
    faces = np.repeat([0, 1], [len(top.faces), sum(len(leg.faces) for leg in legs)])
    return Mesh(whole.vertices, whole.faces, surfaces=looks, face_surfaces=faces, name="table")


def test_a_model_is_cut_into_pieces_with_colours_materials_and_parents():
    mesh = table_mesh()
    pieces = [pieces_of(mesh, region) for region in regions_of(mesh)]
    assert [len(each) for each in pieces] == [1, 4]
    stuff = {region.name: region.surface.name for region in regions_of(mesh) if region.surface}
    found = real_assembly(Asset(mesh), "table", {name: {"wood": "oak"}.get(s, s) for name, s in stuff.items()})
    assert [part.appearance.material for part in found.parts] == ["oak", "steel"]
    assert [part.repeat.mirror for part in found.parts] == ["", "xz"]
    assert [part.parent for part in found.parts] == [-1, 0]
    np.testing.assert_allclose(found.parts[0].appearance.rgb, np.array([0.5, 0.2, 0.1]) ** (1 / 2.2))
    np.testing.assert_allclose(found.bounds, mesh.bounds, atol=1e-9)


def test_a_fifth_is_kept_aside_by_name_alone(tmp_path):
    names = [f"chair/{number}.glb" for number in range(1000)]
    assert 0.15 < np.mean([is_kept_aside(name) for name in names]) < 0.25
    (tmp_path / "categories.csv").write_text("file,category\n" + "".join(f"{name},potted plant\n" for name in names))
    found = real_models(tmp_path)
    assert [model.is_kept_aside for model in found] == [is_kept_aside(name) for name in names]
    assert all(model.is_kept_aside + model.is_watched + model.is_learned == 1 for model in found)
    others = [model.is_watched for model in found if not model.is_kept_aside]
    assert 0.25 < np.mean(others) < 0.42
    assert found[0].category == "plant"
    with pytest.raises(NeurokError, match=r"categories\.csv"):
        real_models(tmp_path / "nothing")


def test_an_open_underside_is_covered_and_near_corners_are_welded():
    solid = box((1.0, 2.0, 3.0))
    is_bottom = (solid.vertices[solid.faces][..., 1] < -0.99).all(axis=1)
    covered = closed_solid(solid.vertices, solid.faces[~is_bottom], capped=True)
    assert covered.volume == pytest.approx(6.0)
    loose = solid.vertices[solid.faces].reshape(-1, 3)
    loose = loose + np.random.default_rng(0).uniform(-1e-5, 1e-5, loose.shape) + 1e-4
    welded = closed_solid(loose, np.arange(len(loose)).reshape(-1, 3))
    assert welded.volume == pytest.approx(6.0, rel=1e-3)


def test_what_lies_behind_a_narrow_seam_is_inside():
    solid = box((1.0, 1.0, 1.0))
    is_top = (solid.vertices[solid.faces][..., 1] > 0.49).all(axis=1)
    lid = solid.vertices * [1.0, 1.0, 0.92]  # leaves a slit of two hundredths on either side
    loose = np.concatenate([solid.vertices[solid.faces[~is_top]], lid[solid.faces[is_top]]]).reshape(-1, 3)
    found = filled(loose, np.arange(len(loose)).reshape(-1, 3))
    assert found.volume == pytest.approx(1.0, rel=0.1)
