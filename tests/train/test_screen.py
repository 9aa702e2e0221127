import io
from dataclasses import replace

from rich.console import Console

from neurok.data.subject import subject_of
from neurok.samples import make_sample
from neurok.train.loop import Split, train
from neurok.train.recipes import smoke
from neurok.train.screen import Screen

FIGURES = {"step": 500, "relative": 0.25, "nats": 61.0, "train": 0.4, "pairs_per_second": 80.0, "eta": 600.0}


def text_of(screen: Screen, now=None) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(screen.table(now))
    return console.file.getvalue()


def test_without_a_terminal_each_evaluation_is_one_line():
    lines: list[str] = []
    with Screen(lines.append, live=False) as screen:
        screen.pulse({**FIGURES, "step": 490})
        screen({**FIGURES, "seen": 0.333})
    assert lines == ["step    500  relative 0.250  nats 61.000  train 0.400  seen 0.333  80 pairs/s  10 min left"]


def test_the_table_shows_evaluations_and_the_step_that_runs():
    screen = Screen(print, live=True)
    screen({**FIGURES, "seen": 0.333})
    shown = text_of(screen, {**FIGURES, "step": 510})
    for word in ("seen", "0.333", "500", "510", "…", "10 min", "80"):
        assert word in shown


def test_the_table_forgets_the_oldest_evaluations():
    screen = Screen(print, live=True)
    for step in range(40):
        screen({**FIGURES, "step": 1000 + step})
    shown = text_of(screen)
    assert "1039" in shown
    assert "1000" not in shown


def test_a_run_tells_the_screen_between_evaluations(tmp_path):
    told: list[tuple[str, int]] = []
    config = replace(smoke(), steps=24, evaluate_every=12)
    split = Split([subject_of(make_sample("laptop"))], {})
    report, pulse = (lambda f: told.append(("report", f["step"]))), (lambda f: told.append(("pulse", f["step"])))
    train(config, split, tmp_path, report=report, pulse=pulse)
    assert told == [("pulse", 10), ("report", 12), ("pulse", 20), ("report", 24)]
    assert (tmp_path / "curve.png").read_bytes()[:4] == b"\x89PNG"
