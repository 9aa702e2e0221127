"""The example notebooks run from the first cell to the last, and what they show is a page."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def code_of(path):
    """The cells of a notebook as one program; what a cell ends with is shown as a notebook would."""
    cells = json.loads(path.read_text())["cells"]
    lines = ["shown = []"]
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.unparse(tree.body.pop().value)
            lines += [ast.unparse(tree), f"shown.append({last})"]
        else:
            lines.append(ast.unparse(tree))
    lines.append("print(sum(hasattr(one, '_repr_html_') and '<iframe' in one._repr_html_() for one in shown))")
    return "\n".join(lines)


def test_there_are_two_notebooks_without_outputs():
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text())["cells"]
        assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
        assert cells[0]["cell_type"] == "markdown"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(path, tmp_path):
    pytest.importorskip("viser", reason="viser is not installed: notebooks cannot show anything")
    done = subprocess.run(
        [sys.executable, "-c", code_of(path)], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.strip().splitlines()[-1]) == 3
