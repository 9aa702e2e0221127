"""What an MJCF file may name and ask for, checked before MuJoCo opens anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from neurok.errors import FormatError
from neurok.io import xml
from neurok.io.files import read_bytes, resolve_inside

COUNTS = ("width", "height", "nrow", "ncol", "count", "nchannel")
MAX_COUNT = 8192
MAX_NESTED_FILES = 200
MAX_COPIES = 8192


def check_references(root: xml.Element, folder: Path, top: Path, what: str, seen: set[Path] | None = None) -> None:
    """Refuse files outside ``top``, absurd sizes and plugins, in this file and those it includes.

    Args:
        root: The parsed model.
        folder: Where its own references start.
        top: The folder nothing may leave.
        what: The file, for the sentence of an error.
        seen: Files already checked.
    """
    seen = set() if seen is None else seen
    _check_copies(root, what)
    folders: dict[str, set[str]] = {"mesh": {""}, "texture": {""}}
    for compiler in _compilers(root, folder, top, set()):
        both = compiler.get("assetdir", "")
        folders["mesh"].add(compiler.get("meshdir", both))
        folders["texture"].add(compiler.get("texturedir", both))
    for element in root.iter():
        if element.tag == "plugin":
            raise FormatError(f"{what} asks for a MuJoCo plugin, which is code and is not loaded.")
        _check_counts(element, what)
        for key, reference in element.attrib.items():
            if not (key.startswith("file") and reference):
                continue
            kind = "texture" if element.tag == "texture" else "mesh"
            # Any of the folders may be the one that MuJoCo takes, so none may lead outside.
            for prefix in () if element.tag in ("include", "model") else folders[kind] - {""}:
                _inside(folder, top, f"{prefix}/{reference}")
            target = _inside(folder, top, reference)
            if element.tag in ("include", "model") and target.is_file() and target not in seen:
                seen.add(target)
                if len(seen) > MAX_NESTED_FILES:
                    raise FormatError(f"{what} includes more than {MAX_NESTED_FILES} files.")
                nested = xml.parse(read_bytes(target, xml.MAX_XML_BYTES), f"'{target}'")
                # An included file's paths start at the including one's folder, an attached model's at its own.
                start = folder if element.tag == "include" else target.parent
                _carry_folders(root, nested)
                check_references(nested, start, top, f"'{target}'", seen)


def _inside(folder: Path, top: Path, reference: str) -> Path:
    if folder == top:
        return resolve_inside(top, reference)
    resolve_inside(top, reference.lstrip("./") or reference)  # refuses absolute paths and foreign schemes
    target = (folder / reference).resolve()
    if not target.is_relative_to(top.resolve()):
        raise FormatError(
            f"The file refers to '{reference}', which lies outside its folder; only files below are read."
        )
    return target


def _compilers(root: xml.Element, folder: Path, top: Path, seen: set[Path]) -> Iterator[xml.Element]:
    """Every ``compiler`` of a model and of what it includes: those of inner files hold for outer ones too."""
    yield from root.iter("compiler")
    for element in root.iter("include"):
        target = _inside(folder, top, element.get("file") or "")
        if target.is_file() and target not in seen and len(seen) < MAX_NESTED_FILES:
            seen.add(target)
            yield from _compilers(xml.parse(read_bytes(target, xml.MAX_XML_BYTES), f"'{target}'"), folder, top, seen)


def _check_copies(element: xml.Element, what: str, copies: float = 1.0) -> None:
    """Refuse nested ``replicate`` elements that multiply to more than any model needs."""
    if element.tag == "replicate":
        copies *= max(1.0, _number(element.get("count")))
        if copies > MAX_COPIES:
            raise FormatError(f"{what} replicates a body {copies:.3g} times; at most {MAX_COPIES} copies are read.")
    for child in element:
        _check_copies(child, what, copies)


def _number(text: str | None) -> float:
    try:
        return float(text or 1)
    except ValueError:
        return 1.0  # MuJoCo says what is wrong with it


def _carry_folders(outer: xml.Element, inner: xml.Element) -> None:
    """The mesh and texture folders of the outer file also hold in what it includes."""
    for compiler in outer.iter("compiler"):
        inner.insert(0, inner.makeelement("compiler", dict(compiler.attrib)))


def _check_counts(element: xml.Element, what: str) -> None:
    for key in COUNTS:
        for word in (element.get(key) or "").split():
            try:
                too_many = float(word) > MAX_COUNT
            except ValueError:
                continue  # MuJoCo says what is wrong with it
            if too_many:
                raise FormatError(f"{what} asks for {key}={word} in <{element.tag}>; at most {MAX_COUNT} is allowed.")
