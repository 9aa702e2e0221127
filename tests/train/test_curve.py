import json

import numpy as np
from PIL import Image

from neurok.train.curve import draw_curve, read_log


def line(step: int, **errors: float) -> dict[str, float]:
    return {"step": step, "relative": 0.5, "nats": 80.0, "seconds": 1.0, "pairs_per_second": 9.0, "eta": 1.0, **errors}


def dark(path) -> np.ndarray:
    """Where a drawn line is, not a grid line or text: strongly coloured pixels inside the plot."""
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)[32:543, 75:825]
    return pixels.max(axis=2) - pixels.min(axis=2) > 60


def test_a_falling_error_is_a_falling_line(tmp_path):
    log = [line(100 * k, train=0.5, seen=0.8 / k) for k in range(1, 9)]
    draw_curve(log, tmp_path / "curve.png")
    marks = dark(tmp_path / "curve.png")
    columns = np.flatnonzero(marks.any(axis=0))
    heights = marks.argmax(axis=0)
    assert heights[columns[5]] < heights[columns[-12]], "pixels count from the top"
    assert len(columns) > 600


def test_a_log_of_one_line_and_a_perfect_error_are_drawn(tmp_path):
    draw_curve([line(10, train=0.9, seen=0.0)], tmp_path / "curve.png")
    assert Image.open(tmp_path / "curve.png").size == (1000, 600)


def test_a_step_done_twice_counts_once(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line(step, train=error)) + "\n" for step, error in ((1, 3), (2, 2), (2, 1))))
    assert [(row["step"], row["train"]) for row in read_log(path)] == [(1, 3), (2, 1)]
