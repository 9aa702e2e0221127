"""What a picture shows: sizes, places, colours, light and shade."""

from dataclasses import replace

import moderngl
import numpy as np
import pytest
import trimesh

from neurok.core import Clip, Mesh, Surface, Texture
from neurok.errors import MissingDependencyError, NeurokError
from neurok.rendering import Arrow, Axis, Ball, Camera, Renderer, context, render_clip, render_grid, render_mesh

WHITE = (1.0, 1.0, 1.0)
SQUARE = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
QUAD = np.array([[0, 1, 2], [0, 2, 3]])
FRONT = Camera(0.0, 0.0, margin=0.1)


def square(**fields) -> Mesh:
    return Mesh(SQUARE, QUAD, **fields)


def red_share(picture: np.ndarray) -> float:
    pixels = picture.astype(int)
    return float(((pixels[..., 0] - pixels[..., 1]) > 60).mean())


def box(size=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.0), **fields) -> Mesh:
    made = trimesh.creation.box(size)
    return Mesh(made.vertices + np.array(at), made.faces, **fields)


def test_a_red_square_seen_front_on_covers_the_share_that_the_margin_leaves():
    mesh = square(surfaces=(Surface(base_color=(0.8, 0.0, 0.0, 1.0)),))
    picture = render_mesh(mesh, 300, 200, camera=FRONT, ground=False)
    assert picture.shape == (200, 300, 3)
    assert picture.dtype == np.uint8
    side = 0.8 * 200
    assert red_share(picture) == pytest.approx(side**2 / (300 * 200), rel=0.02)


def test_the_same_input_gives_the_same_pixels():
    mesh = box(surfaces=(Surface(base_color=(0.1, 0.3, 0.8, 1.0)),))
    assert np.array_equal(render_mesh(mesh, 160, 120), render_mesh(mesh, 160, 120))


@pytest.mark.parametrize("scale", [1e-4, 1e5])
def test_the_picture_does_not_depend_on_the_unit_or_the_place(scale):
    mesh = box((1.0, 0.5, 2.0))
    moved = mesh.with_vertices(mesh.vertices * scale + 3.0 * scale)
    difference = np.abs(render_mesh(mesh, 160, 120).astype(int) - render_mesh(moved, 160, 120))
    assert difference.mean() < 0.5


def test_the_up_axis_turns_the_object_and_not_the_picture():
    mesh = box((1.0, 0.5, 2.0))
    for up in ("x", "z"):
        difference = np.abs(render_mesh(mesh, 160, 120).astype(int) - render_mesh(mesh.in_frame(up), 160, 120))
        assert difference.mean() < 0.5


def test_a_texture_stands_upright_and_not_mirrored():
    pixels = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], dtype=np.uint8)
    mesh = square(
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float),
        surfaces=(Surface(base_color=(1, 1, 1, 1), texture=Texture.from_pixels(pixels)),),
    )
    picture = render_mesh(mesh, 200, 200, camera=FRONT, ground=False)
    seen = {
        place: picture[y, x] > 128
        for place, (y, x) in {
            "top left": (60, 60),
            "top right": (60, 140),
            "low left": (140, 60),
            "low right": (140, 140),
        }.items()
    }
    assert seen["top left"].tolist() == [True, False, False]
    assert seen["top right"].tolist() == [False, True, False]
    assert seen["low left"].tolist() == [False, False, True]
    assert seen["low right"].tolist() == [True, True, False]


@pytest.mark.parametrize("quality", ["fine", "fast"])
def test_the_shadow_is_darker_than_the_ground_around_it(quality):
    mesh = box((1.0, 0.1, 1.0), at=(0.0, 1.0, 0.0))
    post = box((0.05, 1.0, 0.05), at=(0.0, 0.5, 0.0))
    both = Mesh(np.concatenate([mesh.vertices, post.vertices]), np.concatenate([mesh.faces, post.faces + 8]))
    options = {"width": 160, "height": 160, "camera": Camera(0, 40), "background": WHITE, "quality": quality}
    with_ground, without = render_mesh(both, **options), render_mesh(both, ground=False, **options)
    change = without.astype(int) - with_ground
    assert change.min() >= -1
    assert change.max() > 60
    assert change[:20].max() < 5, "far from the object the ground is bare"


def test_a_flat_panel_does_not_shade_itself():
    slab = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float)
    for tilt in (0.0, 0.5, 1.2):
        vertices = np.column_stack([slab[:, 0], slab[:, 1] * np.sin(tilt), -slab[:, 1] * np.cos(tilt)])
        mesh = Mesh(vertices, QUAD, surfaces=(Surface(base_color=(0.5, 0.5, 0.5, 1.0), roughness=1.0),))
        picture = render_mesh(mesh, 200, 200, camera=Camera(0, 50), background="transparent", ground=False)
        inside = picture[..., :3][picture[..., 3] == 255].astype(int)
        assert len(inside) > 5000
        assert np.percentile(inside[:, 0], 99) - np.percentile(inside[:, 0], 1) < 16


def test_parts_get_different_colours():
    made = np.concatenate([SQUARE + [-1.1, 0, 0], SQUARE + [1.1, 0, 0]])
    mesh = Mesh(made, np.concatenate([QUAD, QUAD + 4]), part_ids=np.repeat([0, 1], 4))
    picture = render_mesh(mesh, 200, 100, camera=FRONT, colors="parts").astype(int)
    assert np.abs(picture[50, 55] - picture[50, 145]).sum() > 80


def test_what_is_transparent_does_not_show_and_casts_no_shadow():
    mesh = box()
    colors = np.tile([1.0, 0.0, 0.0, 0.0], (8, 1))
    picture = render_mesh(mesh, 120, 120, colors=colors, background=WHITE)
    assert picture.min() == 255
    half = render_mesh(mesh, 120, 120, colors=np.tile([1.0, 0.0, 0.0, 0.5], (8, 1)), background=WHITE)
    full = render_mesh(mesh, 120, 120, colors=np.tile([1.0, 0.0, 0.0, 1.0], (8, 1)), background=WHITE)
    assert full[60, 60, 1] < half[60, 60, 1] < 255


def test_a_masked_texture_has_holes():
    pixels = np.full((16, 16, 4), 255, dtype=np.uint8)
    pixels[:, 8:, 3] = 0
    look = Surface(base_color=(0.8, 0, 0, 1), texture=Texture.from_pixels(pixels), alpha_mode="MASK")
    mesh = square(uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float), surfaces=(look,))
    solid = replace(mesh, surfaces=(replace(look, alpha_mode="OPAQUE"),))
    shares = [red_share(render_mesh(m, 200, 200, camera=FRONT, ground=False)) for m in (mesh, solid)]
    assert shares[0] == pytest.approx(shares[1] / 2, rel=0.05)


def test_single_sided_faces_are_seen_from_the_front_only():
    one_sided = square(surfaces=(Surface(base_color=(0.8, 0, 0, 1), double_sided=False),))
    back = Camera(180.0, 0.0)
    assert red_share(render_mesh(one_sided, 64, 64, camera=FRONT, ground=False)) > 0.3
    assert red_share(render_mesh(one_sided, 64, 64, camera=back, ground=False)) == 0.0
    both = replace(one_sided, surfaces=(Surface(base_color=(0.8, 0, 0, 1)),))
    assert red_share(render_mesh(both, 64, 64, camera=back, ground=False)) > 0.3


def test_several_surfaces_and_vertex_colours_multiply():
    mesh = square(
        surfaces=(Surface(base_color=(1, 0, 0, 1)), Surface(base_color=(0, 0, 1, 1))),
        face_surfaces=np.array([0, 1]),
        vertex_colors=np.ones((4, 4)),
    )
    picture = render_mesh(mesh, 100, 100, camera=FRONT, ground=False)
    assert picture[70, 70, 0] > picture[70, 70, 2] + 60
    assert picture[30, 30, 2] > picture[30, 30, 0] + 60


def test_something_emissive_is_brighter():
    dark, glowing = (
        render_mesh(square(surfaces=(Surface(base_color=(0, 0, 0, 1), emissive=e),)), 64, 64, camera=FRONT)
        for e in ((0.0, 0.0, 0.0), (0.0, 0.6, 0.0))
    )
    assert glowing[32, 32, 1] > dark[32, 32, 1] + 60


def test_without_a_background_the_object_is_cut_out():
    picture = render_mesh(box(), 120, 120, background="transparent")
    assert picture.shape == (120, 120, 4)
    assert picture[60, 60, 3] == 255
    assert picture[0, 0, 3] == 0


def test_the_camera_holds_the_whole_clip_and_does_not_jump():
    mesh = box(surfaces=(Surface(base_color=(0.8, 0, 0, 1)),))
    steps = np.array([0.0, 1.0, 2.0])
    clip = Clip(mesh, mesh.vertices + steps[:, None, None] * np.array([1.5, 0, 0]))
    frames = list(render_clip(clip, 240, 120, camera=FRONT, ground=False))
    centers = []
    for frame in frames:
        columns = np.flatnonzero((frame[..., 0].astype(int) - frame[..., 1]).max(axis=0) > 60)
        assert columns[0] > 5
        assert columns[-1] < 234
        centers.append((columns[0] + columns[-1]) / 2)
    assert centers[1] - centers[0] == pytest.approx(centers[2] - centers[1], abs=4)
    assert centers[2] - centers[0] > 100


def test_smooth_and_flat_shading_differ_on_a_ball_but_not_on_a_box():
    ball = trimesh.creation.icosphere(1)
    mesh = Mesh(ball.vertices, ball.faces)
    smooth, flat = (render_mesh(mesh, 100, 100, shading=s).astype(int) for s in ("smooth", "flat"))
    assert np.abs(smooth - flat).mean() > 1.0
    smooth, flat = (render_mesh(box(), 100, 100, shading=s).astype(int) for s in ("smooth", "flat"))
    assert np.abs(smooth - flat).max() <= 2


def test_markers_are_drawn_in_their_colours_where_they_stand():
    with Renderer(square(), width=200, height=200, camera=FRONT, ground=False) as renderer:
        plain = renderer.render()
        marked = renderer.render(
            markers=[
                Ball((0.5, 0.5, 0.1), (1.0, 0.0, 0.0), radius=0.1),
                Arrow((-0.8, -0.5, 0.2), (1, 0, 0), (0.0, 1.0, 0.0), length=0.6),
                Axis((-0.5, 0.5, -0.2), (0, 1, 0), (0.0, 0.0, 1.0), length=0.5, thickness=0.05),
            ]
        ).astype(int)
    assert marked[60, 140, 0] > marked[60, 140, 1] + 80
    assert marked[140, 60, 1] > marked[140, 60, 0] + 80
    hidden = marked[60, 60] - plain[60, 60]
    assert hidden[2] > hidden[0] + 20, "an axis behind the object shines through"


def test_a_grid_holds_all_meshes():
    grid = render_grid([box(), square(), box((1, 2, 1))], columns=2, width=64, height=48, quality="fast")
    assert grid.shape == (2 * 48 + 4, 2 * 64 + 4, 3)


def test_odd_meshes_make_a_picture_all_the_same():
    point = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    line = Mesh(np.array([[0, 0, 0], [0, 1, 0], [0, 2, 0]], dtype=float), np.array([[0, 1, 2]]))
    stray = Mesh(np.concatenate([SQUARE, [[1e6, 0, 0]]]), QUAD, surfaces=(Surface(base_color=(0.8, 0, 0, 1)),))
    for mesh in (point, line):
        assert render_mesh(mesh, 64, 64).shape == (64, 64, 3)
    assert red_share(render_mesh(stray, 64, 64, camera=FRONT)) > 0.3, "a vertex without a face does not count"


def test_a_very_wide_texture_is_thinned_out():
    pixels = np.zeros((2, 20000, 3), dtype=np.uint8)
    pixels[..., 0] = 200
    mesh = square(
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float),
        surfaces=(Surface(base_color=(1, 1, 1, 1), texture=Texture.from_pixels(pixels)),),
    )
    assert red_share(render_mesh(mesh, 64, 64, camera=FRONT)) > 0.3


def test_wrong_wishes_get_one_sentence():
    with pytest.raises(NeurokError, match="16x16"):
        render_mesh(box(), 0, 10)
    with pytest.raises(NeurokError, match="'fine' or 'fast'"):
        render_mesh(box(), quality="best")
    with pytest.raises(NeurokError, match="'smooth' or 'flat'"):
        render_mesh(box(), shading="wavy")
    with pytest.raises(NeurokError, match="'surface', 'parts'"):
        render_mesh(box(), colors="rainbow")
    with pytest.raises(NeurokError, match="per vertex"):
        render_mesh(box(), colors=np.zeros((3, 4)))


def test_without_egl_there_is_one_clear_sentence(monkeypatch):
    def refuse(*args, **kwargs):
        raise Exception("libEGL.so.1 not found")

    monkeypatch.setattr(moderngl, "create_context", refuse)
    monkeypatch.setattr(context, "_open", type("Fresh", (), {})())
    with pytest.raises(MissingDependencyError, match=r"apt install libegl1 libgl1-mesa-dri"):
        render_mesh(box())
