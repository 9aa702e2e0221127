import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.core import Asset, Clip
from neurok.errors import NeurokError
from neurok.io import save
from neurok_lab.data.build import Recipe, build
from neurok_lab.data.still import UNSEEN_FAMILIES
from neurok_lab.train.deformation import split_subjects


def test_no_clip_of_a_held_out_object_is_trained_on(tmp_path):
    mesh = make_sample("lamp").mesh
    for number in range(5):
        clips = tuple(
            Clip(mesh, np.stack([mesh.vertices * (1 + 0.1 * t * (k + 1 + number)) for t in range(3)]), name=f"clip {k}")
            for k in range(2)
        )
        save(Asset(mesh, clips), tmp_path / "animals" / f"animal_{number}.npz")
    build(Recipe("real", 0, 0, folders=(str(tmp_path / "animals"),)), tmp_path / "set")
    split = split_subjects([tmp_path / "set"], real_weight=1)
    assert len({s.motion.frames.tobytes() for s in split.train}) == 8
    assert len(split.watch["clips"]) == 1
    held = {s.motion.frames.tobytes() for s in split.watch["clips"]}
    assert not held & {s.motion.frames.tobytes() for s in split.train}


def test_nothing_to_train_on_gets_a_sentence(tmp_path):
    save(make_sample("laptop").articulation, tmp_path / "one" / "thing_1.npz")
    build(Recipe("real", 0, 0, folders=(str(tmp_path / "one"),)), tmp_path / "set")
    with pytest.raises(NeurokError, match="nothing to train on"):
        split_subjects([tmp_path / "set"])


def test_held_out_families_are_never_trained_on(tmp_path):
    family = UNSEEN_FAMILIES[0]
    build(Recipe("tiny", 2, 0, families=(family, "cupboard")), tmp_path / "set")
    split = split_subjects([tmp_path / "set"])
    assert len(split.train) == 1
