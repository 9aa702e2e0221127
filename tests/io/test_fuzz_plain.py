"""Damaged bytes of every plain format: a mesh or one sentence, never anything else."""

import contextlib
import re
import struct
import tempfile
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh
from plain_meshes import articulated_arrays, rich_mesh, tetrahedron

from neurok.core import Articulation, Asset, Clip, Joint
from neurok.errors import NeurokError
from neurok.io import load, npz_arrays, save

NASTY = [b"0", b"-1", b"nan", b"inf", b"1e309", b"-", b"99999999999999999999", b"2147483648", b"4294967295", b"1.5"]
NASTY += [b"\0", b"\xff", b"\xe9", b"\n", b" ", b"/", b"//", b"\\\n", b"#", b"../../x", b"%s", b"end_header\n"]


def mutant(data: bytes, rng: np.random.Generator) -> bytes:
    """A few small injuries: bits, bytes, words, cuts, repeats and numbers at the edge of their range."""
    out = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, max(1, len(out))))
        length = int(rng.integers(1, 9))
        match rng.integers(0, 7):
            case 0 if out:
                out[at % len(out)] ^= 1 << int(rng.integers(0, 8))
            case 1:
                out[at : at + length] = rng.bytes(length)
            case 2:
                del out[at : at + int(rng.integers(1, 40))]
            case 3:
                out[at:at] = NASTY[rng.integers(0, len(NASTY))]
            case 4:
                out[at : at + 1] = NASTY[rng.integers(0, len(NASTY))]
            case 5:
                out[at:at] = out[at : at + int(rng.integers(1, 200))]
            case _:
                edge = int(rng.choice([0, 1, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1]))
                out[at : at + 4] = struct.pack("<I", edge)
    if rng.random() < 0.1:
        del out[int(rng.integers(0, max(1, len(out)))) :]
    return bytes(out)


def seeds() -> dict[str, tuple[str, bytes]]:
    """Valid files: ours, and other programs' where they write in other ways."""
    mesh, still = rich_mesh(), tetrahedron()
    ball = trimesh.creation.box()
    square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv .2 .2 0\nv 0 1 0\nvt 0 0\nvt 1 1\nvn 0 0 1\n"
    text_obj = b"o a\n" + square + b"g x\nf -5/-2/-1 2/1/1 3//1 4/2 \\\n 5\nusemtl m\nf 1 2 3\ng y\nf 1/1 3/2 5/1\n"
    uneven = b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    uneven += b"property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\n"
    uneven += b"property list uchar int vertex_indices\nproperty int label\nend_header\n"
    uneven += b"0 0 0 1 2 3\n1 0 0 9 9 9\n1 1 0 8 8 8\n0 1 0 7 7 7\n4 0 1 2 3 0\n3 0 1 3 1\n"
    articulation = Articulation(mesh, (Joint(), Joint("revolute", 0, lower=-1, upper=2)))
    clip = Clip(still, np.stack([still.vertices] * 2))
    return {
        "our obj": (".obj", _bytes(mesh, ".obj")),
        "mixed obj": (".obj", text_obj),
        "our ply": (".ply", _bytes(mesh, ".ply")),
        "text ply": (".ply", uneven),
        "big-endian ply": (".ply", _big_endian_ply()),
        "binary stl": (".stl", _bytes(still, ".stl")),
        "text stl": (".stl", ball.export(file_type="stl_ascii").encode()),
        "coloured off": (".off", _bytes(mesh, ".off")),
        "our npz": (".npz", _bytes(Asset(mesh, (clip,), articulation), ".npz")),
        "point cache": (".pc2", _bytes(clip, ".pc2")),
    }


def _bytes(thing, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(thing, Path(folder) / f"a{suffix}")
        return (Path(folder) / f"a{suffix}").read_bytes()


def _big_endian_ply() -> bytes:
    head = (
        b"ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    )
    head += b"element face 2\nproperty list uchar uint vertex_indices\nend_header\n"
    body = np.arange(12, dtype=">f4").tobytes() + struct.pack(">B4I", 4, 0, 1, 2, 3) + struct.pack(">B3I", 3, 0, 1, 3)
    return head + body


SEEDS = seeds()


def load_mutants(folder: Path, seed: str, count: int) -> dict[str, int]:
    """Load ``count`` damaged copies of a seed file; anything but a mesh or a NeurokError escapes."""
    suffix, data = SEEDS[seed]
    # What the valid files refer to lies beside them.
    save(tetrahedron() if suffix == ".pc2" else rich_mesh(), folder / "a.obj")
    path = folder / f"a{suffix}"
    path.write_bytes(data)
    load(path)
    rng = np.random.default_rng([count, *seed.encode()])
    outcomes = {"read": 0, "refused": 0, "long-winded": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for _ in range(count):
            path.write_bytes(mutant(data, rng))
            try:
                load(path)
                outcomes["read"] += 1
            except NeurokError as error:
                outcomes["refused"] += 1
                outcomes["long-winded"] += "\n" in str(error)
    return outcomes


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_files_load_or_get_one_sentence(tmp_path, seed):
    outcomes = load_mutants(tmp_path, seed, 250)
    assert outcomes["refused"] > 20
    assert outcomes["long-winded"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_thousands_of_damaged_files_load_or_get_one_sentence_in_little_memory(tmp_path, seed):
    tracemalloc.start()
    try:
        load_mutants(tmp_path, seed, 900)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6, "a small file took much memory"


def test_every_prefix_of_a_small_file_loads_or_gets_one_sentence(tmp_path):
    for suffix, data in SEEDS.values():
        for cut in range(0, len(data), max(1, len(data) // 25)):
            (tmp_path / f"c{suffix}").write_bytes(data[:cut])
            with contextlib.suppress(NeurokError):
                load(tmp_path / f"c{suffix}")


def test_damaged_headers_inside_a_sound_archive_load_or_get_one_sentence(tmp_path):
    arrays = npz_arrays.unpack(SEEDS["our npz"][1], tmp_path)
    header = arrays["neurok"].tobytes()
    words = [b"null", b"true", b"[]", b"{}", b'""', b"-1", b"1e999", b"NaN", b'"x"', b"99999999999999999999999"]
    rng = np.random.default_rng(5)
    path = tmp_path / "a.npz"
    for _ in range(120):
        if rng.random() < 0.5:
            # Another value in the place of one the header has.
            values = list(re.finditer(rb'(?<=[:\[,] )("[^"]*"|[-\d.]+|null|true|false|\[\]|\{\})', header))
            spot = values[rng.integers(len(values))]
            injured = header[: spot.start()] + words[rng.integers(len(words))] + header[spot.end() :]
        else:
            injured = mutant(header, rng)
        path.write_bytes(npz_arrays.pack({**arrays, "neurok": np.frombuffer(injured, dtype=np.uint8)}))
        with contextlib.suppress(NeurokError):
            load(path)


@pytest.mark.parametrize("layout", ["neurok", "articulated"])
def test_arrays_of_other_shapes_and_kinds_load_or_get_one_sentence(tmp_path, layout):
    arrays = npz_arrays.unpack(SEEDS["our npz"][1], tmp_path)
    if layout == "articulated":
        arrays = articulated_arrays()
    rng = np.random.default_rng(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for _ in range(150):
            name = list(arrays)[rng.integers(len(arrays))]
            changes = [
                lambda a: a[:-1] if a.ndim else a[None],
                lambda a: a.reshape(-1),
                lambda a: np.zeros((0, *a.shape[1:]), a.dtype),
                lambda a: a.astype("U4"),
                lambda a: np.full(a.shape, np.nan),
                lambda a: np.full(a.shape, 1e300),
                lambda a: np.full(a.shape, -7),
                lambda a: np.full(a.shape, 2**62),
                lambda a: np.array("word"),
                lambda a: np.asfortranarray(a).astype(bool),
            ]
            injured = {**arrays, name: changes[rng.integers(len(changes))](arrays[name])}
            if rng.random() < 0.2:
                del injured[list(arrays)[rng.integers(len(arrays))]]
            (tmp_path / "a.npz").write_bytes(npz_arrays.pack(injured))
            with contextlib.suppress(NeurokError):
                load(tmp_path / "a.npz")


def test_damaged_material_libraries_load_or_get_one_sentence(tmp_path):
    save(rich_mesh(), tmp_path / "a.obj")
    library = (tmp_path / "a.mtl").read_bytes()
    rng = np.random.default_rng(7)
    for _ in range(120):
        (tmp_path / "a.mtl").write_bytes(mutant(library, rng))
        with contextlib.suppress(NeurokError):
            load(tmp_path / "a.obj")
