"""How things were once said, and how they are said now: one sentence instead of a riddle."""

from __future__ import annotations

from neurok.errors import NeurokError

FLAGS = {
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


def check_moved(name: str, rest: list[str]) -> None:
    """Refuse a command line of before with what it would be now.

    Raises:
        NeurokError: If there is a flag or a word that was understood once.
    """
    for word in rest:
        flag = word.split("=", 1)[0].replace("_", "-")
        if flag in FLAGS.get(name, {}):
            raise NeurokError(f"'neurok {name}' has no {flag} any more; use {FLAGS[name][flag]}.")
    words = next((k for k, word in enumerate(rest) if word.startswith("-")), len(rest))
    if name in OUT_WAS_SECOND and words > 1:
        raise NeurokError(f"'neurok {name}' takes one input; name outputs with --out: {rest[0]} --out {rest[1]}.")
