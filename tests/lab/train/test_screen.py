import io

from rich.console import Console

from neurok_lab.train.log import Screen

LINE = {"step": 500, "per_second": 80.0, "eta": 600.0, "training": {"relative": 0.25, "nats": 61.0, "error": 0.4}}


def text_of(screen: Screen, now=None) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(screen.table(now))
    return console.file.getvalue()


def test_without_a_terminal_each_evaluation_is_one_line():
    lines: list[str] = []
    with Screen(lines.append, "pairs", "shares", live=False) as screen:
        screen.pulse({**LINE, "step": 490})
        screen({**LINE, "watched": {"seen": 0.333}})
    assert lines == ["step    500  relative 0.250  nats 61.000  error 0.400  seen 0.333  80 pairs/s  10 min left"]


def test_the_table_shows_evaluations_and_the_step_that_runs():
    screen = Screen(print, "pairs", "shares", live=True)
    screen({**LINE, "watched": {"seen": 0.333}})
    shown = text_of(screen, {**LINE, "step": 510})
    for word in ("seen", "0.333", "500", "510", "…", "10 min", "80"):
        assert word in shown


def test_the_table_forgets_the_oldest_evaluations():
    screen = Screen(print, "pairs", "shares", live=True)
    for step in range(40):
        screen({**LINE, "step": 1000 + step})
    shown = text_of(screen)
    assert "1039" in shown
    assert "1000" not in shown
