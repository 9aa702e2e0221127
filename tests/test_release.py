"""What a user installs carries everything that the commands need."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import neurok

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "neurok"
CARRIED = (".py", ".json", ".safetensors", ".glsl", ".css", ".js", ".npz", ".typed")


def test_the_version_is_one():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.M)
    assert cited is not None
    assert cited[1] == neurok.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", neurok.__version__)


@pytest.mark.slow
def test_the_wheel_carries_weights_shaders_tables_and_scripts(tmp_path):
    line = [sys.executable, "-m", "build", "--quiet", "--wheel", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("neurok/")}
    wanted = {
        f"neurok/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.suffix in CARRIED and "__pycache__" not in path.parts
    }
    assert wanted <= held, sorted(wanted - held)[:5]
    assert wheel.stat().st_size < 100e6  # what package indexes take
