"""What crashes, hangs, grows or raises in the sandbox ends only its own call."""

import os

import numpy as np
import pytest

from neurok.sandbox import Ended, Limits, Sandbox

WORK = """
import os
def double(numbers, times=2):
    return [times * numbers, numbers[:0]]
def crash():
    os.abort()
def grow():
    bytearray(6 << 30)
def hang():
    while True: pass
def refuse():
    raise ValueError("no such thing")
"""


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    (tmp_path / "sandboxed_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    box = Sandbox()
    yield box
    box.close()


def test_arrays_and_options_go_in_and_arrays_come_back(sandbox):
    numbers = np.arange(6.0).reshape(2, 3)
    twice, none = sandbox.call("sandboxed_work:double", numbers, times=3)
    assert np.array_equal(twice, 3 * numbers)
    assert none.shape == (0, 3)


@pytest.mark.parametrize(
    ("name", "cause"), [("crash", "crash"), ("grow", "memory"), ("hang", "time"), ("refuse", "fault")]
)
def test_each_end_has_its_cause_and_the_next_call_is_answered(sandbox, name, cause):
    with pytest.raises(Ended) as caught:
        sandbox.call(f"sandboxed_work:{name}", limits=Limits(cpu=1.0, memory=1 << 30))
    assert caught.value.cause == cause
    assert "no such thing" in caught.value.text or cause != "fault"
    assert np.array_equal(sandbox.call("sandboxed_work:double", np.ones(2))[0], [2.0, 2.0])


def test_a_helper_that_was_killed_is_started_again(sandbox):
    sandbox.call("sandboxed_work:double", np.ones(1))
    sandbox._process.kill()
    sandbox._process.wait()
    assert sandbox.call("sandboxed_work:double", np.ones(1))[0] == 2.0
    assert sandbox.spent > 0.0
    assert sandbox._owner == os.getpid()
