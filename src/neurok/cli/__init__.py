"""The ``neurok`` command: find the subcommand, parse its flags, call the library, report.

Each command is a dataclass in a file of its own with a ``run`` method that returns the figures for ``--json``;
only the one that is called gets imported, so ``--help`` answers at once.
"""

from __future__ import annotations

import dataclasses
import errno
import importlib
import io
import json
import math
import os
import shlex
import sys
import tempfile
import traceback
import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from neurok.errors import NeurokError, did_you_mean

BUG = 70
"""Exit code of a fault of ours (EX_SOFTWARE)."""

COMMANDS: dict[str, tuple[str, str]] = {
    # command: (module:class, one line of help)
    "inspect": ("neurok.cli.inspect:Inspect", "report the properties and defects of a mesh, and repair it"),
    "articulate": ("neurok.cli.articulate:Articulate", "predict the joints of an object for a simulator"),
    "batch": ("neurok.cli.batch:BatchCommand", "run a command on every object of a folder"),
    "check": ("neurok.cli.inspect:Check", "report what works on this machine and how to get the rest"),
    "convert": ("neurok.cli.convert:Convert", "read an object in one format and write it in another"),
    "generate": ("neurok.cli.generate:Generate", "generate objects from words or a picture"),
    "materials": ("neurok.cli.materials:Materials", "propose a material for each part of an object"),
    "plan": (
        "neurok.cli.articulate:PlanCommand",
        "decide bodies, contacts and joints of an object; draw them",
    ),
    "pose": ("neurok.cli.pose:PoseCommand", "pose an object to fit a target or to follow dragged places"),
    "render": ("neurok.cli.render:Render", "render a picture or a video of an object"),
    "sample": ("neurok.cli.pose:Sample", "sample plausible states of an object"),
    "simulate": ("neurok.cli.simulate:Simulate", "simulate forces, falls, drags or wind and save the motion"),
    "studio": ("neurok.cli.studio:Studio", "open an object in the browser: pose, grab, push, correct, record"),
}
"""What this package can do; an installed lab adds more (entry points ``neurok.commands``)."""


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A full disk, a quota that is used up, a file that may not grow further."""


@cache
def commands() -> dict[str, tuple[str, str]]:
    """All commands that are installed, in the order of their names."""
    found = dict(COMMANDS)
    for point in entry_points(group="neurok.commands"):
        found |= point.load()
    return {name: found[name] for name in ["inspect", *sorted(set(found) - {"inspect"})]}


def main(args: list[str] | None = None) -> None:
    """Run one command line; user mistakes end in one sentence and exit code 2."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # a terminal of another alphabet shows paths as escapes
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:  # those of libraries tell users nothing; -W asks for them
                warnings.simplefilter("ignore")
            _run(list(sys.argv[1:] if args is None else args))
        sys.stdout.flush()
    except BrokenPipeError:  # a reader that has seen enough (``| head``) is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in FULL:
            _report_bug(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _end(f"the output cannot be written: {error.strerror}.", 2)
    except Exception as error:
        _report_bug(error)


def _report_bug(error: Exception) -> None:
    """One sentence for a fault of ours, with exit code 70; the traceback goes to a file that can be sent along."""
    if os.environ.get("NEUROK_TRACEBACK"):
        raise error
    from neurok import __version__

    text = "".join(traceback.format_exception(error))
    command = shlex.join(sys.argv)
    try:
        path = _kept(f"neurok {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n{command}\n\n{text}")
    except OSError as full:
        _end(f"this is a bug ({type(error).__name__}), and no report can be written: {full.strerror}.", BUG)
    _end(f"this is a bug ({type(error).__name__}); please report it with the file '{path}'.", BUG)


def _kept(text: str) -> str:
    """The path of a new file with this text."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="neurok-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(text)
    return file.name


def _open_closed_streams() -> None:
    """A program that was started without stdout or stderr says what it has to say to nobody."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def _end(sentence: str, code: int) -> NoReturn:
    """Say a sentence and leave, even where nobody can be told."""
    try:
        print(f"neurok: {sentence}", file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.exit(code)


def _run(args: list[str]) -> None:
    name = _command_name(args)
    if name is None:
        _overview(args)
        return
    kind = command_class(name)
    rest, beyond = _split(args[len(name.split()) :], hasattr(kind, "beyond"))
    try:
        command = parsed(name, rest)
        if beyond:
            command.beyond = beyond
        if hasattr(command, "check_flags"):
            command.check_flags()
        figures = command.run()
    except NeurokError as error:
        _end(str(error), error.exit_code)
    except KeyboardInterrupt:
        _end("interrupted.", 130)
    if command.json:
        _print_json(figures)
    if getattr(command, "exit_code", 0):
        sys.exit(command.exit_code)


def command_class(name: str) -> Any:
    """The dataclass of a command."""
    module, class_name = commands()[name][0].split(":")
    return getattr(importlib.import_module(module), class_name)


def parsed(name: str, words: list[str]) -> Any:
    """A command with the flags of a command line.

    Raises:
        NeurokError: If a flag has another name now, or one of a few words is asked for that there is not.
    """
    import tyro

    kind = command_class(name)
    _check_moved(name, words)
    _check_choices(kind, words)
    return tyro.cli(kind, prog=f"neurok {name}", args=words, config=(tyro.conf.FlagCreatePairsOff,))


MOVED = {
    "convert": {"--from-unit": "--unit", "--from-up": "--up"},
    "inspect": {"--fix": "--out"},
    "simulate": {"--save-scene": "--out (a name that ends in .yaml or .json)"},
    **{
        f"train {name}": {"--data": "the place after the command: its inputs come first, without a flag"}
        for name in ("articulation", "deformation", "generation", "parts", "pieces", "plan", "ranking")
    },
}
"""Flags of before by command, and what has come in their place."""

OUT_WAS_SECOND = ("convert", "data preview", "render")
"""Commands that took the output as a second word."""


def _check_moved(name: str, words: list[str]) -> None:
    """Refuse a command line of before with what it would be now."""
    for word in words:
        flag = word.split("=", 1)[0].replace("_", "-")
        if flag in MOVED.get(name, {}):
            raise NeurokError(f"'neurok {name}' has no {flag} any more; use {MOVED[name][flag]}.")
    inputs = next((k for k, word in enumerate(words) if word.startswith("-")), len(words))
    if name in OUT_WAS_SECOND and inputs > 1:
        raise NeurokError(f"'neurok {name}' takes one input; name outputs with --out: {words[0]} --out {words[1]}.")


def _check_choices(kind: type, words: list[str]) -> None:
    """Refuse a word that is none of the few that a flag takes, and say which is meant."""
    for field, hint in get_type_hints(kind, include_extras=True).items():
        group = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if dataclasses.is_dataclass(group):
            _check_choices(group, words)  # type: ignore[arg-type]
        known, flag = _literals(group), f"--{field.replace('_', '-')}"
        for word, following in zip(words, [*words[1:], ""]):
            given = word.removeprefix(f"{flag}=") if word.startswith(f"{flag}=") else following if word == flag else ""
            if known and given and given not in known:
                raise NeurokError(f"{flag} takes {', '.join(known)}, got '{given}'.{did_you_mean(given, known)}")


def _literals(hint: Any) -> list[str]:
    """The words of a choice, which may be left open; nothing for other types."""
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    inner = [arg for arg in get_args(hint) if arg is not type(None)]
    return _literals(inner[0]) if len(inner) == 1 and type(None) in get_args(hint) else []


def _split(rest: list[str], takes_more: bool) -> tuple[list[str], tuple[str, ...]]:
    """The words before and after ``--``, for a command that hands the latter on."""
    if not takes_more or "--" not in rest:
        return rest, ()
    at = rest.index("--")
    return rest[:at], tuple(rest[at + 1 :])


def _command_name(args: list[str]) -> str | None:
    """The longest known command that the line starts with (``data build`` before ``data``)."""
    for length in (2, 1):
        name = " ".join(args[:length])
        if name in commands():
            return name
    return None


def _overview(args: list[str]) -> None:
    group = args[0] if args and not args[0].startswith("-") else ""
    known = [name for name in commands() if not group or name.split()[0] == group]
    if args and args[0] == "--version":
        from neurok import __version__

        print(f"neurok {__version__}")
        return
    if not known or (len(args) > 1 and group and not args[1].startswith("-")):
        given = " ".join(args[:2]) if known else group
        meant = did_you_mean(given, commands())
        _end(f"there is no command '{given}'; known are {', '.join(commands())}.{meant}", 2)
    width = max(map(len, known))
    print("usage: neurok COMMAND [options]      (details: neurok COMMAND --help)\n")
    for name in known:
        print(f"  {name:{width}}  {commands()[name][1]}")
    if args and group and not any(a in ("-h", "--help") for a in args):
        sys.exit(2)


def _print_json(figures: Any) -> None:
    """One JSON object on stdout."""
    print(json.dumps(_finite(json.loads(json.dumps(figures, default=_plain)))), flush=True)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity; null says the same."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """Numbers and paths of other libraries as plain JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
