"""What the public names of neurok look like from outside, as text; run this file to write it anew."""

import dataclasses
import inspect
from pathlib import Path

import neurok

KEPT = Path(__file__).with_name("public_api.txt")


def described() -> str:
    """Every public name with its signature, and the fields and methods of classes."""
    lines = []
    for name in neurok.__all__:
        thing = getattr(neurok, name)
        lines.append(f"{name}{_signature(thing)}")
        if inspect.isclass(thing):
            fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
            members = {key for key in vars(thing) if not key.startswith("_")}
            lines += [f"    .{member}{_signature(vars(thing).get(member))}" for member in sorted(members | fields)]
    return "\n".join(lines) + "\n"


def _signature(thing: object) -> str:
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    if not callable(thing):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    return "(" + ", ".join(_parameter(one) for one in found.parameters.values()) + ")"


def _parameter(one: inspect.Parameter) -> str:
    """Name and whether it may be left out; annotations and defaults may be said better at any time."""
    star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**", one.KEYWORD_ONLY: "*, "}.get(one.kind, "")
    return f"{star}{one.name}" + ("" if one.default is one.empty else "=...")


if __name__ == "__main__":
    KEPT.write_text(described())
