"""Hundreds of glTF files made by other programs."""

import numpy as np
import pytest
from khronos import faults

from neurok.io.formats import load, save
from neurok.io.gltf_write import TOLERANCE

pytestmark = [pytest.mark.data, pytest.mark.slow]


def files_in(folder):
    found = sorted(p for p in folder.rglob("*") if p.suffix in (".glb", ".gltf"))
    if not found:
        pytest.skip(f"'{folder.name}' is not among the real data sets: its files are not tested")
    return found


def test_animated_files_bake_and_come_back_within_the_tolerance(real_data, tmp_path):
    written, clip_count = [], 0
    for number, path in enumerate(files_in(real_data / "animated_glb")):
        asset = load(path)
        assert asset.clips, path
        for clip in asset.clips:
            assert np.isfinite(clip.positions).all()
        target = tmp_path / f"{number}.glb"
        save(asset, target)
        again = load(target)
        assert [c.name for c in again.clips] == [c.name for c in asset.clips]
        for before, after in zip(asset.clips, again.clips, strict=True):
            offset = np.linalg.norm(before.positions - after.positions, axis=-1).max()
            assert offset <= TOLERANCE * asset.mesh.size, (path, before.name)
        clip_count += len(asset.clips)
        written.append(target)
    assert clip_count >= len(written)
    assert faults(written) == {}


def test_static_files_come_back_with_their_look(real_data, tmp_path):
    written = []
    for number, path in enumerate(files_in(real_data / "furniture_glb")):
        mesh = load(path).mesh
        target = tmp_path / f"{number}.glb"
        save(mesh, target)
        again = load(target).mesh
        np.testing.assert_allclose(again.vertices, mesh.vertices, atol=1e-6 * mesh.size)
        assert again.part_names == mesh.part_names
        assert {s.texture.data for s in again.surfaces if s.texture} == {
            s.texture.data for s in mesh.surfaces if s.texture
        }
        written.append(target)
    assert faults(written) == {}
