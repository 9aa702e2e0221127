"""Runs that take long say so."""

from __future__ import annotations

from neurok.cli.outputs import long_wait


def test_a_long_wait_is_told_once_where_no_bar_is_seen(capsys):
    now = [0.0]
    tell = long_wait(lambda: now[0])
    for second in range(1, 40):
        now[0] = float(second)
        tell(second / 1200)
    assert capsys.readouterr().err == "neurok: about 20 minutes left; Ctrl-C keeps what is done.\n"


def test_a_short_wait_is_not_told(capsys):
    now = [0.0]
    tell = long_wait(lambda: now[0])
    for second in range(1, 40):
        now[0] = float(second)
        tell(second / 40)
    assert not capsys.readouterr().err
