"""What words alone do not need is not loaded for them."""

import gc
import subprocess
import sys

import pytest

from neurok.catalogue.vocabulary import MATERIALS
from neurok.cli.generate import loading
from neurok.core.material_library import library
from neurok.hub import load_model

HEAVY = ("scipy.ndimage", "neurok.rendering", "numba", "trimesh", "torch._dynamo", "sympy", "PIL")


def test_words_load_no_pictures_no_rendering_and_no_compilers():
    code = f"import sys, neurok.generation.verb; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_networks_choose_from_materials_that_the_library_has_whatever_else_it_gets():
    assert set(MATERIALS) <= set(library())
    assert len(MATERIALS) == len(set(MATERIALS)) == 97  # the rows of the shipped weights
    load_model("generation", "generation")


def test_garbage_is_looked_for_again_after_loading():
    assert gc.isenabled()
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()
