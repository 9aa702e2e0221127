"""What several tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets named by NEUROK_DATA; without it the test is skipped, and says so."""
    folder = os.environ.get("NEUROK_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("NEUROK_DATA names no folder: tests on real data sets are skipped")
    return Path(folder)
