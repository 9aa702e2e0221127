"""Benchmarks that `make benchmarks` runs exist, and changed figures are noticed."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

from rerun import BENCHMARKS, moved, tables  # noqa: E402

PAGE = """# Speed

| object | ms | share |
|---|---|---|
| laptop | 12.5 | 1,000 |
| lamp | 3e-2 | 0.5 |
"""


def test_every_benchmark_has_a_script_and_pages_that_exist():
    for one in BENCHMARKS:
        script = one.command.split()[0]
        assert script == "-m" or (ROOT / script).exists(), one.name
    assert len({one.name for one in BENCHMARKS}) == len(BENCHMARKS)


def test_figures_of_tables_are_read():
    found = tables(PAGE)
    assert [12.5, 1000.0] in found.values()
    assert [0.03, 0.5] in found.values()


def test_only_figures_that_have_changed_are_told():
    assert moved(PAGE, PAGE) == []
    assert moved(PAGE, PAGE.replace("12.5", "12.6")) == []  # within noise
    (line,) = moved(PAGE, PAGE.replace("12.5", "25"))
    assert re.search(r"laptop.*12\.5 -> 25", line)


def test_the_gallery_shows_what_its_script_makes():
    from gallery_readme import EXHIBITS, PAGE, PICTURES

    text = PAGE.read_text()
    for one in EXHIBITS:
        assert f"`{one.line}`" in text
        assert (PICTURES / Path(one.picture).with_suffix(".jpg")).exists()
