import numpy as np
from PIL import Image

from neurok_lab.train.log import draw_curve


def dark(path) -> np.ndarray:
    """Where a drawn line is, not a grid line or text: strongly coloured pixels inside the plot."""
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)[32:543, 75:825]
    return pixels.max(axis=2) - pixels.min(axis=2) > 60


def test_a_falling_error_is_a_falling_line(tmp_path):
    rows = [{"step": 100 * k, "train": 0.5, "seen": 0.8 / k} for k in range(1, 9)]
    draw_curve(rows, tmp_path / "curve.png", "error")
    marks = dark(tmp_path / "curve.png")
    columns = np.flatnonzero(marks.any(axis=0))
    heights = marks.argmax(axis=0)
    assert heights[columns[5]] < heights[columns[-12]], "pixels count from the top"
    assert len(columns) > 600


def test_one_row_and_a_perfect_error_are_drawn(tmp_path):
    draw_curve([{"step": 10, "train": 0.9, "seen": 0.0}], tmp_path / "curve.png", "error")
    assert Image.open(tmp_path / "curve.png").size == (1000, 600)
