"""The autoencoder of parts: who attends to whom, what it decodes, and that it learns."""

import numpy as np
import pytest
import torch

from neurok.catalogue import draw
from neurok.geometry.topology import is_watertight
from neurok.modelling.booleans import to_manifold
from neurok.modelling.forms import KINDS, Hollow
from neurok_lab.parts.part_autoencoder import FORMS, PartConfig, PartModel, PartTask, distance_terms
from neurok_lab.parts.part_fit import aspect_of, decode, decode_shape, encode, nearest_material, refine, solid_of
from neurok_lab.parts.part_points import LAWS, sample_part, values_of
from neurok_lab.parts.part_set import PartRows, PartViewConfig, stack, statistics_of, stuff_features

SMALL = PartConfig(width=16, heads=2, field_width=16, form_width=16)
VIEW = PartViewConfig(parts=6, points=32, queries=24, turned=0.0, unknown=0.0)


@pytest.fixture(scope="module")
def chair():
    return draw("chair", np.random.default_rng(3))


@pytest.fixture(scope="module")
def rows(chair):
    rng = np.random.default_rng(0)
    return stack([sample_part(part, rng).arrays() for part in chair.parts])


def model_of(codes: str = "split") -> PartModel:
    torch.manual_seed(0)
    return PartModel(PartConfig(codes=codes, width=16, heads=2, field_width=16, form_width=16))


def batch(rows, seed: int = 0):
    some = PartRows.of(rows)
    statistics = tuple(torch.tensor(one) for one in statistics_of(rows))
    return some.batch(np.arange(len(some)), VIEW, np.random.default_rng(seed), statistics)


def codes_of(model: PartModel, given) -> tuple[torch.Tensor, ...]:
    config = model.config
    return model.encoder(given)[0].split([config.shape, config.colour, config.material], dim=-1)


def test_shape_knows_no_colour_and_no_material_and_colour_no_material(rows):
    model, (given, _) = model_of(), batch(rows)
    shape, colour, material = codes_of(model, given)
    painted = codes_of(model, given._replace(colours=1.0 - given.colours))
    made = codes_of(model, given._replace(stuff=torch.zeros_like(given.stuff)))
    assert torch.equal(painted[0], shape)
    assert torch.equal(made[0], shape)
    assert torch.equal(made[1], colour)
    assert not torch.equal(painted[1], colour)
    assert not torch.equal(painted[2], material)
    assert not torch.equal(made[2], material)


def test_without_attention_between_codes_material_knows_no_colour(rows):
    model, (given, _) = model_of("apart"), batch(rows)
    painted = codes_of(model, given._replace(colours=1.0 - given.colours))
    assert torch.equal(painted[2], codes_of(model, given)[2])


def test_decoded_materials_depend_on_the_shape_alone(rows):
    model, (given, _) = model_of("decoded"), batch(rows)
    code = model.encoder(given)[0]
    other = code.clone()
    other[:, model.config.shape :] += 1.0
    one, two = (model.decoder(each, given.aspect) for each in (code, other))
    assert torch.equal(one.law, two.law)
    assert torch.equal(one.values, two.values)
    assert not torch.equal(one.appearance, two.appearance)


@pytest.mark.parametrize("codes", ["split", "decoded", "apart", "fused"])
def test_codes_do_not_depend_on_the_order_of_points(rows, codes):
    model, (given, _) = model_of(codes), batch(rows)
    model.config.__dict__["stuff_points"] = 32  # all of them
    order = torch.randperm(given.points.shape[1], generator=torch.Generator().manual_seed(1))
    moved = given._replace(
        **{name: getattr(given, name)[:, order] for name in ("points", "normals", "colours", "stuff")}
    )
    torch.testing.assert_close(model.encoder(moved)[0], model.encoder(given)[0], atol=1e-4, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("codes", ["split", "decoded", "apart", "fused"])
def test_every_variant_learns_a_handful_of_parts(rows, codes):
    torch.manual_seed(0)
    task = PartTask(PartConfig(codes=codes, width=16, heads=2, field_width=16, form_width=16))
    optimizer = torch.optim.Adam(task.parameters(), 5e-3)
    first = last = 0.0
    for step in range(30):
        terms = task(*batch(rows, step))
        first = first or float(terms.loss.detach())
        last = float(terms.loss.detach())
        optimizer.zero_grad()
        terms.loss.backward()
        optimizer.step()
    assert last < 0.7 * first


def test_numbers_that_a_material_has_not_do_not_count(rows):
    task, (given, targets) = PartTask(SMALL), batch(rows)
    assert targets.values.isnan().any()
    terms = task(given, targets._replace(values=torch.full_like(targets.values, float("nan"))))
    assert float(terms.parts["material"].detach()) == 0.0
    assert torch.isfinite(terms.loss)


def test_true_distances_cost_nothing():
    true = torch.linspace(-0.3, 0.3, 50)[None]
    terms = distance_terms(true, true)
    assert float(terms["distance"]) == 0.0
    assert float(terms["right"]) == 1.0


def test_unknown_materials_are_all_zero():
    nothing = stuff_features(torch.full((1, 5), float("nan")), torch.tensor([-1]), torch.tensor([-1]))
    assert not nothing.any()


def test_distances_of_samples_are_those_of_the_solid(rows, chair):
    """The surface is at distance zero, and the middle of a convex part is inside."""
    near = np.abs(rows["distances"]) < 0.02
    assert near.any()
    assert (rows["distances"] < 0).any(axis=1).all()
    assert np.abs(rows["points"]).max() <= 1.0 + 1e-6
    assert len(rows["points"]) == len(chair.parts)


@pytest.mark.slow
@pytest.mark.parametrize("hollow", [None, Hollow(0.01, "top")])
def test_any_code_decodes_to_a_closed_solid_that_fills_its_box(hollow):
    model, rng = model_of(), np.random.default_rng(0)
    size = np.array([0.2, 0.5, 0.1])
    for scale in (0.0, 1.0, 5.0):
        shape = decode_shape(model, scale * rng.normal(size=24), size, hollow)
        assert is_watertight(shape.faces)
        assert shape.volume > 0
        assert to_manifold(shape).volume() > 0
        np.testing.assert_allclose(np.ptp(shape.bounds, axis=0), size, rtol=1e-6)


def test_a_part_goes_to_codes_and_comes_back_as_words_and_numbers(chair):
    model, part = model_of(), chair.parts[0]
    code = encode(model, part)
    assert code.shape == (model.config.total,)
    np.testing.assert_array_equal(code, encode(model, part))
    for kind in KINDS:
        guess = decode(model, code, part.size, kind)
        assert guess.kind == kind
        assert len(guess.code) == 24
        assert guess.law in LAWS
        solid = solid_of(model, guess, part.size)
        assert is_watertight(solid.faces)
    assert guess.material.young > 0
    assert set(FORMS) < set(KINDS)


def test_refined_codes_fit_the_points_better(chair):
    from neurok_lab.parts.part_fit import PartCloud, encode_clouds, input_of
    from neurok_lab.parts.part_points import surface_of_part

    model, part = model_of(), chair.parts[0]
    points, normals, colours = surface_of_part(part, 64, np.random.default_rng(0))
    cloud = PartCloud(points * part.size / 2, normals, colours, np.asarray(part.size), part.appearance)
    given, before = input_of([cloud]), encode_clouds(model, [cloud])
    after = refine(model, before, [cloud], steps=30)

    def error(code):
        return float(
            model.decoder.field(torch.from_numpy(code[:, :24]).float(), given.aspect, given.points)
            .abs()
            .mean()
            .detach()
        )

    assert error(after) < error(before)
    np.testing.assert_array_equal(after[:, 24:], before[:, 24:])


def test_the_nearest_material_of_a_library_material_is_itself():
    from neurok.core.material_library import library

    for name in ("oak", "steel", "cotton", "soil"):
        entry = library()[name]
        found = nearest_material(entry.material.kind, entry.family, values_of(entry.material))
        assert found.name == entry.material.name
        assert found.young == pytest.approx(entry.material.young, rel=1e-6)


def test_aspects_do_not_know_the_size():
    np.testing.assert_allclose(aspect_of(np.array([1.0, 2.0, 4.0])), np.log([0.25, 0.5, 1.0]))
    np.testing.assert_allclose(aspect_of(np.array([0.1, 0.2, 0.4])), aspect_of(np.array([1.0, 2.0, 4.0])))
