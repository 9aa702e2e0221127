"""Scenes go to files and come back equal; mistakes in them are all told at once."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.errors import FormatError, NeurokError
from neurok.scene.description import (
    Scene,
    SceneDrag,
    SceneError,
    SceneGround,
    SceneImpulse,
    SceneMaterial,
    SceneMove,
    SceneObject,
    SceneObstacle,
    ScenePin,
    ScenePush,
    SceneVelocity,
    SceneWorld,
)
from neurok.scene.files import read_scene, write_scene

numbers = st.floats(-1e6, 1e6)
vectors = st.tuples(numbers, numbers, numbers)
positive = st.floats(1e-3, 1e3)
densities = st.floats(0.1, 3e4)
places = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1)

objects = st.builds(
    SceneObject,
    source=st.sampled_from(["sample:laptop", "/objects/a.glb", "/objects/deep/b.urdf"]),
    position=vectors,
    rotation=vectors,
    base=st.sampled_from(["auto", "free", "fixed"]),
    drop=st.none() | st.just("auto") | positive,
    density=densities,
    thickness=st.none() | positive,
    materials=st.dictionaries(
        places,
        st.builds(
            SceneMaterial,
            densities,
            kind=st.sampled_from(["elastic", "sand", "metal"]),
            yield_stress=st.none() | positive,
            friction_angle=st.none() | st.floats(0.0, 1.5),
        )
        | st.sampled_from(["foam", "oak", "cast iron"]),
        max_size=2,
    ),
    q=st.none() | st.lists(numbers, max_size=2).map(tuple),
    moves=st.lists(st.builds(SceneMove, places, vectors), max_size=1).map(tuple),
    velocities=st.lists(st.builds(SceneVelocity, places, vectors), max_size=1).map(tuple),
    pushes=st.lists(st.builds(ScenePush, places, vectors, st.just(0.5), st.floats(1, 2)), max_size=2).map(tuple),
    impulses=st.lists(st.builds(SceneImpulse, places, vectors, positive), max_size=1).map(tuple),
    drags=st.lists(
        st.builds(SceneDrag, places, st.tuples(vectors, vectors), st.sampled_from([(), (0.0, 1.5)])), max_size=1
    ).map(tuple),
    pins=st.lists(st.builds(ScenePin, places, st.none() | positive), max_size=2).map(tuple),
)
worlds = st.builds(
    SceneWorld,
    gravity=st.none() | vectors,
    wind=st.none() | vectors,
    ground=st.none() | st.builds(SceneGround, st.none() | numbers, st.none(), positive),
    obstacles=st.lists(st.builds(SceneObstacle, st.just("/objects/ramp.obj"), vectors), max_size=1).map(tuple),
)
scenes = st.builds(
    Scene,
    st.lists(objects, min_size=1, max_size=2).map(tuple),
    worlds,
    positive,
    st.floats(1.0, 1e3),  # of frames that fit into the run
    st.none() | positive,
    st.sampled_from(["auto", "gauss", "implicit"]),
    st.integers(0, 2**40),
)


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # beartype does
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@settings(max_examples=25, deadline=None)
@given(scene=scenes)
def test_any_scene_comes_back_equal(tmp_path_factory, suffix, scene):
    path = tmp_path_factory.mktemp("scene") / f"scene{suffix}"
    write_scene(scene, path)
    assert read_scene(path) == scene


def test_a_written_scene_names_its_version_and_leaves_defaults_out(tmp_path):
    write_scene(Scene((SceneObject("sample:lamp"),)), tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == {"neurok_scene": 1, "objects": [{"path": "sample:lamp"}]}


def test_paths_are_relative_to_the_file_and_travel_with_it(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        (folder / "meshes").mkdir(parents=True)
    write_scene(Scene((SceneObject(str(here / "meshes" / "a.glb")),)), here / "scene.yaml")
    assert "path: meshes/a.glb" in (here / "scene.yaml").read_text()
    (here / "scene.yaml").rename(there / "scene.yaml")
    assert read_scene(there / "scene.yaml").objects[0].source == str(there / "meshes" / "a.glb")


def test_toml_is_read_and_not_written(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text('seconds = 3\n[[objects]]\npath = "sample:lamp"\npins = [{at = "top"}]\n')
    assert read_scene(path) == Scene((SceneObject("sample:lamp", pins=(ScenePin("top"),)),), seconds=3.0)
    with pytest.raises(NeurokError, match=r"\.yaml, \.yml, \.json"):
        write_scene(read_scene(path), path)


def test_yaml_numbers_without_a_dot_are_numbers_and_vertex_numbers_are_places(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text("dt: 1e-3\nobjects: [{path: 'sample:lamp', pushes: [{at: 120, force: [1, 2, 3e0]}]}]\n")
    scene = read_scene(path)
    assert scene.dt == 1e-3
    assert scene.objects[0].pushes == (ScenePush("120", (1.0, 2.0, 3.0)),)


def test_all_mistakes_are_told_at_once_with_their_place(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(
        "secnds: 2\nfps: -1\nintegrator: euler\nworld: {gravity: [0, 1], ground: 3}\n"
        "objects:\n- {pth: 'sample:lamp', density: 0, drop: high, materials: {a: {kind: gas, friction_angle: 2}}, "
        "pushes: [{at: top, force: [.nan, 0, 0], whn: 3}]}\n"
    )
    with pytest.raises(SceneError) as caught:
        read_scene(path)
    text = str(caught.value)
    for words in (
        "'secnds' is unknown. Did you mean 'seconds'?",
        "fps must be positive",
        "integrator must be one of auto, gauss",
        "world.gravity must have 3 numbers",
        "world.ground must hold keys",
        "'objects[0].pth' is unknown. Did you mean 'path'?",
        "objects[0].path is missing",
        "objects[0].density must be positive, got 0",
        "objects[0].drop must be a number or auto",
        "objects[0].materials.a.kind must be one of rigid, elastic",
        "objects[0].materials.a.friction_angle must lie in",
        "objects[0].pushes[0].force must be finite",
        "'objects[0].pushes[0].whn' is unknown",
    ):
        assert words in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.yaml", "objects: [", "not valid YAML"),
        ("a.json", "{", "not valid JSON"),
        ("a.toml", "= 3", "not valid TOML"),
        ("a.yaml", "- 1\n- 2", "must hold keys"),
        ("a.yaml", "neurok_scene: 7\nobjects: []", "version 7"),
        ("a.yaml", "seconds: 2", "objects is missing"),
        ("a.yaml", "objects: []", "at least one object"),
        ("a.txt", "objects: []", "must end in"),
        ("a.yaml", "!!python/object/apply:os.system ['true']", "not valid YAML"),
        ("a.json", "[" * 100_000, "not valid JSON"),
    ],
)
def test_a_file_that_is_no_scene_says_why(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(NeurokError, match=words):
        read_scene(tmp_path / name)


KEYS = ["objects", "path", "world", "ground", "pushes", "at", "force", "drags", "times", "q", "dt", "materials", "x"]
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("sample:lamp")
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
)


@settings(max_examples=150, deadline=None)
@given(data=st.dictionaries(st.sampled_from(KEYS), anything, max_size=4))
def test_whatever_a_file_holds_the_answer_is_a_scene_or_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "scene.json"
    path.write_text(json.dumps(data))
    try:
        outcome = read_scene(path)
    except NeurokError as error:
        outcome = error
    assert isinstance(outcome, Scene) or str(outcome).endswith((".", "?"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NeurokError, match="There is no file"):
        read_scene(tmp_path / "none.yaml")


def test_bytes_that_are_no_text_say_so(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(FormatError, match="not valid YAML"):
        read_scene(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seconds": 0.0}, "seconds must be positive"),
        ({"dt": -0.1}, "dt must be positive"),
        ({"fps": 1e12}, "at most 1,000,000 frames"),
        ({"fps": float("nan")}, "fps must be finite"),
        ({"world": SceneWorld(ground=SceneGround(normal=(0.0, 0.0, 0.0)))}, "must be a direction"),
        ({"objects": (SceneObject("a", name="x"), SceneObject("b", name="x"))}, "different names"),
        (
            {"objects": (SceneObject("a", pushes=(ScenePush("top", (1.0, 0.0, 0.0), 1.0, 0.5),)),)},
            "end after it starts",
        ),
        ({"objects": (SceneObject("a", drags=(SceneDrag("top", ()),)),)}, "at least one point"),
        ({"objects": (SceneObject("a", drags=(SceneDrag("top", ((0.0, 0.0, 0.0),), (1.0, 2.0)),)),)}, "1 points but 2"),
    ],
)
def test_a_scene_that_makes_no_sense_cannot_be_made(changes, words):
    with pytest.raises(SceneError, match=words):
        Scene(**{"objects": (SceneObject("sample:lamp"),), **changes})


def test_materials_are_names_or_numbers(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text("objects: [{path: 'sample:lamp', materials: {base: foam, head: {density: 900}}}]\n")
    assert read_scene(path).objects[0].materials == {"base": "foam", "head": SceneMaterial(density=900.0)}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{base: stel}", "objects[0].materials.base: There is no material 'stel'; the nearest are steel"),
        ("{base: {young: 0}}", "objects[0].materials.base.young must be positive, got 0"),
        ("{base: {density: 1e-30}}", "objects[0].materials.base.density must lie between 0.1 and 30000 kg/m^3"),
        ("{base: {densty: 3}}", "Did you mean 'density'?"),
        ("{base: [1]}", "objects[0].materials.base must be a word"),
    ],
)
def test_materials_that_are_none_get_a_sentence(tmp_path, given, words):
    path = tmp_path / "scene.yaml"
    path.write_text(f"objects: [{{path: 'sample:lamp', materials: {given}}}]\n")
    with pytest.raises(SceneError) as caught:
        read_scene(path)
    assert words in str(caught.value)
