"""Damaged files of every kind, as ``make fuzz`` tries them: read or refused in one sentence, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # seeds, injuries and workers live there

from fuzzing.mutations import STRUCTURED, mutate
from fuzzing.runner import run
from fuzzing.seeds import seeds
from fuzzing.worker import damaged

COUNT = 1000


@pytest.mark.slow
def test_a_thousand_damaged_files_are_read_or_refused(tmp_path):
    tally = run(range(20_000, 20_000 + COUNT), master=0, keep=tmp_path, workers=2)
    assert sum(tally.verdicts.values()) == COUNT
    said = [f"{one.number} {one.seed}: {one.verdict}: {one.detail.strip().splitlines()[-1:]}" for one in tally.bad]
    assert not said, "\n".join(said)
    read = sum(count for (_, verdict), count in tally.verdicts.items() if verdict == "read")
    assert COUNT / 10 < read < 9 * COUNT / 10, "injuries must be neither harmless nor all deadly"


@pytest.mark.slow
def test_a_mutant_is_named_by_its_number(tmp_path):
    made = seeds(tmp_path)
    for number, seed in enumerate(made):
        assert damaged(seed, number, 0) == damaged(seed, number, 0)
    assert {suffix for seed in made for suffix in [seed.main.rsplit(".")[-1]]} >= set(STRUCTURED) - {"gltf", "npz"}


TEXTS = {
    "a.json": b'{"a": [1, {"b": 2}]}',
    "a.yaml": b"a: [1, 2]\n",
    "a.xml": b'<a b="1"><c/></a>',
    "a.obj": b"v 0 1 2\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_injuries_change_files_and_survive_their_own_work(name):
    rng = np.random.default_rng(0)
    made = {mutate(name, TEXTS[name], rng) for _ in range(200)}
    assert len(made) > 50
