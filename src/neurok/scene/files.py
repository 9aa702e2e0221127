"""Scenes in files: YAML, JSON or TOML, as the suffix says.

The keys are the fields of ``Scene``, plus ``neurok_scene: 1``, the version. What equals its default may be left out,
and is when a scene is written. Paths are relative to the file; they may lead out of its folder, since a scene is the
user's own and names nothing but objects to read.
"""

from __future__ import annotations

import json
import os
import tomllib
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from neurok.errors import FormatError, NeurokError, did_you_mean, shown, wrong_choice
from neurok.io.files import read_bytes, write_files
from neurok.scene import description as nouns
from neurok.scene.description import VERSION, Scene, SceneError, check_number

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
VERSION_KEY = "neurok_scene"
MAX_SCENE_BYTES = 4_000_000
SAMPLE_PREFIX = "sample:"
WIDEST_INTEGER = 64
"""Whole numbers of a scene have at most so many bits."""


def read_scene(path: str | Path) -> Scene:
    """The scene of a file, with absolute paths.

    Raises:
        FormatError: If the file is of no known kind or cannot be parsed.
        SceneError: Naming everything in it that is unknown or makes no sense.
    """
    path = Path(path)
    data = _parse(path)
    if not isinstance(data, Mapping):
        raise FormatError(f"'{path}' is no scene: it must hold keys such as 'objects' and 'seconds'.")
    data = dict(data)
    version = data.pop(VERSION_KEY, VERSION)
    if version != VERSION:
        raise FormatError(f"'{path}' is a scene of version {shown(version)}; this neurok reads {VERSION}.")
    reader = _SceneReader()
    scene = reader.read(Scene, data, "")
    if reader.problems:
        raise SceneError([f"'{path}': {reader.problems[0]}", *reader.problems[1:]])
    return _with_paths(scene, lambda name: _absolute(name, path.parent))


def write_scene(scene: Scene, path: str | Path) -> None:
    """Write a scene as YAML or JSON; reading it gives an equal one."""
    path = Path(path)
    check_scene_suffix(path, writing=True)
    folder = Path(os.path.abspath(path)).parent
    data = {VERSION_KEY: VERSION, **_plain(_with_paths(scene, lambda name: _relative(name, folder)))}
    if path.suffix.lower() == ".json":
        text = json.dumps(data, indent=2, allow_nan=False) + "\n"
    else:
        text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)
    write_files(path, {path.name: text.encode()})


def check_scene_suffix(path: Path, *, writing: bool = False) -> None:
    """Refuse a name that no scene can have."""
    known = SUFFIXES[:3] if writing else SUFFIXES
    if path.suffix.lower() not in known:
        verb = "written to" if writing else "read from"
        raise NeurokError(f"A scene cannot be {verb} '{path}'; the name must end in {', '.join(known)}.")


def absolute_paths(scene: Scene, folder: Path) -> Scene:
    """The same scene with its relative paths counted from a folder."""
    return _with_paths(scene, lambda name: _absolute(name, folder))


def _parse(path: Path) -> Any:
    check_scene_suffix(path)
    raw = read_bytes(path, MAX_SCENE_BYTES)
    try:
        text = raw.decode("utf-8-sig")
        if path.suffix.lower() == ".json":
            return json.loads(text)
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text)
        return yaml.safe_load(text)
    except (ValueError, LookupError, AttributeError, TypeError, yaml.YAMLError, RecursionError) as error:
        # PyYAML's own readers of !!bool, !!int and !!timestamp trip over words that are none.
        reason = " ".join(str(error).split())[:200]
        raise FormatError(f"'{path}' is not valid {path.suffix[1:].upper()}: {reason}.") from None


def _with_paths(scene: Scene, change: Any) -> Scene:
    def move(thing: Any) -> Any:
        return replace(thing, source=change(thing.source)) if isinstance(thing.source, str) else thing

    world = replace(scene.world, obstacles=tuple(map(move, scene.world.obstacles)))
    objects = tuple(
        _with_path(_with_path(move(thing), "plan", change), "materials_file", change) for thing in scene.objects
    )
    return replace(scene, objects=objects, world=world)


def _with_path(thing: nouns.SceneObject, name: str, change: Any) -> nouns.SceneObject:
    """The same object with one of its optional paths changed."""
    return replace(thing, **{name: change(getattr(thing, name))}) if getattr(thing, name) else thing


def _absolute(name: str, folder: Path) -> str:
    return name if name.startswith(SAMPLE_PREFIX) else os.path.abspath(folder / name)


def _relative(name: str, folder: Path) -> str:
    if name.startswith(SAMPLE_PREFIX):
        return name
    try:
        return Path(os.path.relpath(name, folder)).as_posix()
    except ValueError:  # another drive
        return name


def _plain(value: Any) -> Any:
    """Dictionaries, lists and numbers; defaults are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(_key(item), _named(getattr(value, item.name), item.name), _default(item)) for item in fields(value)]
        return {name: _plain(given) for name, given, default in pairs if given != default}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _key(item: Field[Any]) -> str:
    """The name of a field in a file."""
    return "path" if item.name == "source" else item.name


def _named(value: Any, name: str) -> Any:
    """The value of a field, if a file can hold it."""
    if name == "source" and not isinstance(value, str):
        raise NeurokError(f"A scene file names files, but {value!r:.60} is in memory; save it, and name its file.")
    return value


def _default(item: Field[Any]) -> Any:
    return item.default_factory() if item.default_factory is not MISSING else item.default


@cache
def _hints(kind: type) -> dict[str, Any]:
    found = get_type_hints(kind, vars(nouns))
    return found if "source" not in found else {**found, "path": str}


class _SceneReader:
    """Makes nouns of what a file says; what does not fit is noted and replaced by None."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def read(self, kind: Any, value: Any, place: str) -> Any:
        """A value as the type of its field wants it."""
        origin, inner = get_origin(kind), get_args(kind)
        if is_dataclass(kind):
            return self._noun(kind, value, place)  # type: ignore[arg-type]
        if origin in (Union, types.UnionType):
            return self._choice(inner, value, place)
        if origin is tuple:
            return self._tuple(inner, value, place)
        if origin is Mapping:
            if isinstance(value, Mapping):
                return {str(key): self.read(inner[1], item, f"{place}.{key}") for key, item in value.items()}
            return self._refuse(place, "hold one entry per part", value)
        if origin is Literal:
            if value in inner:
                return value
            self.problems.append(wrong_choice(place, value, map(str, inner)))
            return None
        return self._plain(kind, value, place)

    def _refuse(self, place: str, wanted: str, value: Any) -> None:
        self.problems.append(f"{place} must {wanted}, got {shown(value)}")

    def _noun(self, kind: type, value: Any, place: str) -> Any:
        known = {_key(item): item for item in fields(kind)}  # type: ignore[arg-type]
        if not isinstance(value, Mapping):
            return self._refuse(place, f"hold keys ({', '.join(known)})", value)
        before = len(self.problems)
        inside = f"{place}." if place else ""
        self.problems += [_unknown(f"{inside}{key}", str(key), list(known)) for key in value if key not in known]
        given = {
            known[name].name: self.read(_hints(kind)[name], value[name], f"{inside}{name}")
            for name in known
            if name in value
        }
        missing = (name for name, item in known.items() if name not in value and _default(item) is MISSING)
        self.problems += [f"{inside}{name} is missing" for name in missing]
        if len(self.problems) > before:
            return None
        try:
            return kind(**given)
        except SceneError as error:
            self.problems.extend(error.problems)
            return None

    def _choice(self, kinds: tuple[Any, ...], value: Any, place: str) -> Any:
        if value is None and type(None) in kinds:
            return None
        kinds = tuple(kind for kind in kinds if kind is not type(None))
        if len(kinds) > 1 and any(map(is_dataclass, kinds)):
            kinds = tuple(kind for kind in kinds if is_dataclass(kind) == isinstance(value, Mapping))
        if len(kinds) == 1:
            return self.read(kinds[0], value, place)
        for kind in kinds:
            attempt = _SceneReader()
            result = attempt.read(kind, value, place)
            if not attempt.problems:
                return result
        words = [str(word) for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
        return self._refuse(place, f"be a number or {' or '.join(words)}", value)

    def _tuple(self, kinds: tuple[Any, ...], value: Any, place: str) -> Any:
        if not isinstance(value, list | tuple):
            return self._refuse(place, "be a list", value)
        if kinds[-1] is Ellipsis:
            return tuple(self.read(kinds[0], item, f"{place}[{i}]") for i, item in enumerate(value))
        if len(value) != len(kinds):
            return self._refuse(place, f"have {len(kinds)} numbers", value)
        return tuple(self.read(kind, item, place) for kind, item in zip(kinds, value, strict=True))

    def _plain(self, kind: type, value: Any, place: str) -> Any:
        wanted = {str: "a word", float: "a number", int: "a whole number"}[kind]
        if isinstance(value, bool):
            return self._refuse(place, f"be {wanted}", value)
        if kind is str and isinstance(value, str | int):
            return str(value)
        number = value if kind is int else None
        if kind is float and isinstance(value, int | float | str):
            with suppress(ValueError, OverflowError):
                number = float(value)  # YAML takes 1e-3 for a word
        if not isinstance(number, int | float) or (kind is int and not _is_whole(number)):
            return self._refuse(place, f"be {wanted}", value)
        self.problems.extend(check_number(place, float(number)))
        return number


def _is_whole(number: int | float) -> bool:
    return isinstance(number, int) and number.bit_length() <= WIDEST_INTEGER


def _unknown(place: str, key: str, known: list[str]) -> str:
    meant = did_you_mean(key, known)
    return f"'{place}' is unknown.{meant}" if meant else f"'{place}' is unknown; known are {', '.join(known)}"
