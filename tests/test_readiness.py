"""What `neurok check` says of this machine is so, and what is missing is named with its remedy."""

import importlib.util
import json

import pytest

from neurok import readiness
from neurok.cli import main


def test_what_is_needed_works_here(capsys):
    main(["check", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["ready"]
    found = {finding["name"]: finding for finding in told["findings"]}
    assert {"weights", "simulation", "compiler", "pictures"} <= set(found)
    assert all(finding["works"] for finding in found.values() if finding["is_needed"])
    for extra in readiness.EXTRAS:
        present = all(importlib.util.find_spec(module) is not None for module in extra.modules)
        assert found[extra.name]["works"] == present


def test_a_missing_extra_is_named_with_the_command_that_installs_it():
    finding = readiness._extra(readiness.Extra("moon", {"no_such_module": "no-such-package"}, "trips"))
    assert not finding.works
    assert "no-such-package" in finding.what
    assert finding.remedy == "pip install 'neurok[moon]'"


def test_a_broken_need_ends_with_two(monkeypatch, capsys):
    def fails():
        raise OSError("no such library")

    fails.__name__ = "_compiler"
    finding = readiness._tried(fails)
    assert (finding.name, finding.works) == ("compiler", False)
    assert finding.is_needed
    monkeypatch.setattr(readiness, "check_machine", lambda: (finding,))
    with pytest.raises(SystemExit, match="2"):
        main(["check"])
    assert "BROKEN" in capsys.readouterr().out
