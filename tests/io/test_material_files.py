"""Materials in files: written, read back, and read by others."""

import json

import numpy as np
import pytest

from neurok.core import Articulation, Asset, Joint, Material, MaterialField, Mesh, Surface, material
from neurok.core.select import regions_of
from neurok.errors import NeurokError
from neurok.io import load, save
from neurok.io.materials_file import read_materials, write_materials
from neurok.modelling import shapes

OURS = Material("ours", 3e5, 0.2, 90.0, "foam", damping_ratio=0.4, friction=0.7, thickness=0.01, source="measured")


def chair() -> Mesh:
    """A seat with two looks, and a leg; no vertex is shared between looks."""
    boxes = [shapes.box((0.4, 0.1, 0.4)), shapes.box((0.3, 0.02, 0.3)), shapes.box((0.05, 0.4, 0.05))]
    places = ([0.0, 0.5, 0.0], [0.0, 0.57, 0.0], [0.0, 0.2, 0.0])
    starts = np.cumsum([0, *(len(box.vertices) for box in boxes)])
    return Mesh(
        np.concatenate([box.vertices + place for box, place in zip(boxes, places, strict=True)]),
        np.concatenate([box.faces + start for box, start in zip(boxes, starts, strict=False)]),
        part_ids=np.repeat([0, 0, 1], [len(box.vertices) for box in boxes]),
        part_names=("seat", "leg"),
        surfaces=(Surface("plank"), Surface("pad"), Surface("tube")),
        face_surfaces=np.repeat([0, 1, 2], [len(box.faces) for box in boxes]),
        name="chair",
    )


def field(mesh: Mesh) -> MaterialField:
    """Oak, a foam of our own, steel."""
    materials = (material("oak"), OURS, material("steel"))
    ids = np.zeros(mesh.vertex_count, dtype=int)
    for k, region in enumerate(regions_of(mesh)):
        ids[region.vertices] = k
    return MaterialField(materials, ids)


def told(asset: Asset) -> dict[tuple[float, ...], Material]:
    """The material at each place."""
    metres = asset.in_frame("y", 1.0).mesh.vertices.round(4) + 0.0
    found = zip(metres, asset.materials.ids, strict=True)
    return {tuple(place.tolist()): asset.materials.materials[index] for place, index in found}


@pytest.mark.parametrize("suffix", [".glb", ".npz", ".usda", ".usdc", ".usdz"])
def test_every_figure_of_every_face_comes_back(tmp_path, suffix):
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr")
    asset = Asset(chair(), materials=field(chair()))
    save(asset, tmp_path / f"a{suffix}")
    assert told(load(tmp_path / f"a{suffix}")) == told(asset)


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_robot_files_keep_what_most_of_each_part_is_made_of(tmp_path, suffix):
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    save(Asset(chair(), materials=field(chair())), tmp_path / f"a{suffix}")
    back = load(tmp_path / f"a{suffix}")
    main = {name: back.materials.materials[back.materials.ids[back.mesh.part_ids == i][0]].name
            for i, name in enumerate(back.mesh.part_names)}  # fmt: skip
    assert main == {"seat": "oak", "leg": "steel"}
    mass = {name: back.articulation.inertials[i].mass for i, name in enumerate(back.mesh.part_names)}
    assert mass["seat"] == pytest.approx(0.4 * 0.1 * 0.4 * 700 + 0.3 * 0.02 * 0.3 * 90)
    assert mass["leg"] == pytest.approx(0.05 * 0.4 * 0.05 * 7850)


def test_usd_says_it_in_its_own_words(tmp_path):
    pytest.importorskip("pxr")
    from pxr import Usd, UsdPhysics, UsdShade

    mesh = chair().in_frame("y", 0.01)
    save(Asset(mesh, materials=field(mesh)), tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    prim = stage.GetPrimAtPath("/chair/leg/mesh")
    bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")[0]
    api = UsdPhysics.MaterialAPI(bound.GetPrim())
    steel = material("steel")
    assert api.GetDensityAttr().Get() == pytest.approx(steel.density * 0.01**3)
    assert api.GetDynamicFrictionAttr().Get() == pytest.approx(steel.friction)
    assert api.GetRestitutionAttr().Get() == pytest.approx(steel.restitution)
    assert bound.GetPrim().GetAttribute("neurok:young").Get() == steel.young
    look = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    assert look.GetPrim().GetName() == "tube"


def test_a_physics_material_of_somebody_else_is_read(tmp_path):
    pytest.importorskip("pxr")
    from pxr import Usd, UsdPhysics

    save(Asset(chair(), materials=field(chair())), tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.MaterialAPI):
            for attribute in prim.GetAttributes():
                if attribute.GetName().startswith("neurok:"):
                    prim.RemoveProperty(attribute.GetName())
    stage.Save()
    found = {each.name: each for each in load(tmp_path / "a.usda").materials.materials}
    assert found["steel"].density == pytest.approx(7850.0)
    assert found["steel"].friction == pytest.approx(material("steel").friction)
    assert found["steel"].damping_ratio == pytest.approx(material("steel").damping_ratio, rel=1e-5)


def test_mujoco_sees_density_and_friction(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    hinge = Joint("revolute", parent=0, axis=np.array([0.0, 1.0, 0.0]), damping=0.3, lower=-1.0, upper=1.0)
    joints = Articulation(chair(), (Joint(), hinge))
    save(Asset(chair(), articulation=joints, materials=field(chair())), tmp_path / "a.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    leg = [g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body("leg").id and model.geom_contype[g]]
    assert leg
    np.testing.assert_allclose(model.geom_friction[leg, 0], material("steel").friction)
    assert np.ravel(model.dof_damping)[0] == pytest.approx(0.3)
    assert f'density="{material("steel").density:g}"' in (tmp_path / "a.xml").read_text()


def test_gazebo_finds_friction_in_urdf_and_others_read_it(tmp_path):
    save(Asset(chair(), materials=field(chair())), tmp_path / "a.urdf")
    text = (tmp_path / "a.urdf").read_text()
    assert '<gazebo reference="leg">' in text
    assert "<mu1>0.45</mu1>" in text
    yourdfpy = pytest.importorskip("yourdfpy")
    assert set(yourdfpy.URDF.load(str(tmp_path / "a.urdf")).link_map) == {"seat", "leg"}
    mujoco = pytest.importorskip("mujoco")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "a.urdf")).nbody == 3


def test_numbers_that_vary_are_written_as_their_mean(tmp_path):
    mesh = chair()
    varied = MaterialField(field(mesh).materials, field(mesh).ids, {"young": np.linspace(1e6, 2e6, mesh.vertex_count)})
    save(Asset(mesh, materials=varied), tmp_path / "a.urdf")
    leg = mesh.part_ids == 1
    back = load(tmp_path / "a.urdf")
    part = back.mesh.part_names.index("leg")
    assert back.materials.young[back.mesh.part_ids == part][0] == pytest.approx(varied.young[leg].mean())


def test_damaged_materials_are_noted_and_ignored(tmp_path):
    save(Asset(chair(), materials=field(chair())), tmp_path / "a.urdf")
    text = (tmp_path / "a.urdf").read_text()
    (tmp_path / "a.urdf").write_text(text.replace('neurok_materials data="{', 'neurok_materials data="[{'))
    back = load(tmp_path / "a.urdf")
    assert back.materials is None
    assert any("materials stored in the file are damaged" in note for note in back.notes)


def test_a_file_of_materials_comes_back_and_can_be_edited(tmp_path):
    mesh = chair()
    path = tmp_path / "a.json"
    write_materials(field(mesh), mesh, path, {"leg": {"confidence": 0.5, "reason": "it shines"}})
    assert told(Asset(mesh, materials=read_materials(path, mesh))) == told(Asset(mesh, materials=field(mesh)))
    data = json.loads(path.read_text())
    assert data["parts"]["leg"] == {"material": "steel", "confidence": 0.5, "reason": "it shines"}
    data["parts"] = {"all": "pine", "leg": "Wool", "seat/pad": {"material": "ours"}}
    path.write_text(json.dumps(data))
    names = {each.name for each in told(Asset(mesh, materials=read_materials(path, mesh))).values()}
    assert names == {"pine", "wool", "ours"}


def test_a_field_that_varies_within_parts_comes_back_vertex_by_vertex(tmp_path):
    mesh = chair()
    ids = np.arange(mesh.vertex_count) % 2
    young = np.where(ids == 1, np.linspace(1e5, 2e5, len(ids)), np.nan)
    varied = MaterialField((material("oak"), OURS), ids, {"young": young})
    write_materials(varied, mesh, tmp_path / "a.json")
    back = read_materials(tmp_path / "a.json", mesh)
    assert back.materials == varied.materials
    np.testing.assert_array_equal(back.ids, ids)
    np.testing.assert_array_equal(back.young, varied.young)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", "holds no materials"),
        ('{"neurok_materials": 2}', "holds no materials"),
        ('{"neurok_materials": 1, "parts": []}', "'parts' of .* must be an object"),
        ('{"neurok_materials": 1, "parts": {"leg": 3}}', "does not say what 'leg' is made of"),
        ('{"neurok_materials": 1, "parts": {"leg": "stel"}}', "the nearest are steel"),
        ('{"neurok_materials": 1, "parts": {"lag": "steel"}}', "Did you mean 'leg'"),
        ('{"neurok_materials": 1, "materials": [{"young": 3}]}', "has no name"),
        ('{"neurok_materials": 1, "materials": [{"name": "a", "yung": 3}]}', "'yung' of material 'a'"),
        ('{"neurok_materials": 1, "materials": [{"name": "a", "young": "3"}]}', "young of material 'a' .* a number"),
        ('{"neurok_materials": 1, "materials": [{"name": "a", "young": -3}]}', "young must be positive"),
        (
            '{"neurok_materials": 1, "materials": [{"name": "a"}], "vertices": {"ids": [0]}}',
            "1 vertices; 'chair' has 24",
        ),
        ('{"neurok_materials": 1, "vertices": {"ids": "x"}}', "a whole number each"),
    ],
)
def test_files_that_are_wrong_get_a_sentence(tmp_path, text, words):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(NeurokError, match=words):
        read_materials(tmp_path / "a.json", chair())
