"""Injuries: bytes, words and numbers of any file, and the structure of those that have one.

All of them follow from one random generator, so a mutant is named by its number.
"""

from __future__ import annotations

import copy
import io
import json
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS = [0, -1, 1, 2, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32, 2**63, 10**400, 0.5, -0.0, 1e-320, 1e-9, 1e15]
NUMBERS += [1e30, 1e38, -1e38, 1e300, -1e300, float("nan"), float("inf"), float("-inf")]
WORDS = [
    "",
    " ",
    "x" * 5000,
    "../secret.obj",
    "../secret.png",
    "/etc/passwd",
    "..",
    "a\nb\nc",
    "é漢\u202e",
    "%s%n",
    "null",
]
WORDS += [
    "sample:laptop",
    "a.obj",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x",
    "\x00",
    "data:,x",
    "-",
    "nan",
    "1e999",
]
RAW = [b"0", b"-1", b"nan", b"inf", b"1e309", b"-", b"99999999999999999999", b"2147483648", b"1.5", b"\0", b"\xff"]
RAW += [b"\n", b" ", b"/", b"//", b"\\\n", b"#", b"../secret.obj", b"%s", b"end_header\n", b"[" * 3000, b"<a>" * 300]
YAML = [b"\nseconds: !!bool foo", b'\nseed: !!int ""', b"\nfps: 1" + b"0" * 400, b"\nx: !!python/object:os.system {}"]
YAML += [b"\nobjects: &a [*a, *a]", b"\nfps: 1e-9\nseconds: 1e9", b"\nworld: !!timestamp 1", b"\ndt: 1e-30", b"\n- 1"]
YAML += [b"\nseconds: " + b"[" * 2000, b"\nname: &l [x,x,x,x,x,x,x,x]\nq: &m [*l,*l,*l,*l,*l,*l]\nr: [*m,*m,*m,*m,*m]"]
NUMBER = re.compile(rb"-?\d+\.?\d*(?:e[+-]?\d+)?")

DESTROYED = (ArithmeticError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError)
DESTROYED += (EOFError, NotImplementedError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error)
"""What structured injuries raise where there is no structure any more."""

Rng = np.random.Generator
Mutation = Callable[[bytes, Rng], bytes]


def mutate(name: str, data: bytes, rng: Rng) -> bytes:
    """A damaged copy of a file; its name says which structure it has."""
    suffix = name.rsplit(".", 1)[-1].lower()
    structured = STRUCTURED.get(suffix)
    for _ in range(int(rng.choice([1, 1, 2]))):
        roll = rng.random()
        try:
            if structured is not None and roll < 0.6:
                data = structured(data, rng)
            elif roll < 0.8:
                data = numbers(data, rng)
            else:
                data = raw(data, rng)
        except DESTROYED:
            data = raw(data, rng)  # an earlier injury has destroyed the structure
    return data


def raw(data: bytes, rng: Rng) -> bytes:
    """Bits, bytes, words, cuts, repeats and edges of 32-bit numbers."""
    out = bytearray(data)
    at, length = int(rng.integers(0, max(1, len(out)))), int(rng.integers(1, 9))
    match int(rng.integers(0, 8)):
        case 0 if out:
            out[at % len(out)] ^= 1 << int(rng.integers(0, 8))
        case 1:
            out[at : at + length] = rng.bytes(length)
        case 2:
            del out[at : at + int(rng.integers(1, 40))]
        case 3:
            out[at:at] = RAW[int(rng.integers(len(RAW)))]
        case 4:
            out[at : at + length] = RAW[int(rng.integers(len(RAW)))]
        case 5:
            out[at:at] = out[at : at + int(rng.integers(1, 300))]
        case 6:
            del out[at:]
        case _:
            edge = int(rng.choice([0, 1, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1]))
            out[at : at + 4] = struct.pack("<I", edge)
    return bytes(out)


def numbers(data: bytes, rng: Rng) -> bytes:
    """One number of a text becomes another."""
    found = list(NUMBER.finditer(data[:200_000]))
    if not found:
        return raw(data, rng)
    where = found[int(rng.integers(len(found)))]
    return data[: where.start()] + str(_number(rng)).encode() + data[where.end() :]


def _number(rng: Rng) -> Any:
    return NUMBERS[int(rng.integers(len(NUMBERS)))]


def _anything(rng: Rng) -> Any:
    """A value of any kind, where another was."""
    match int(rng.integers(0, 7)):
        case 0 | 1 | 2:
            return _number(rng)
        case 3 | 4:
            return WORDS[int(rng.integers(len(WORDS)))]
        case 5:
            return [None, True, False, [], {}, [[]], {"": 0}][int(rng.integers(7))]
        case _:
            deep: Any = 0
            for _ in range(int(rng.choice([3, 40, 400]))):
                deep = [deep]
            return deep


def tree(value: Any, rng: Rng) -> Any:
    """A nested value with one injury somewhere in it."""
    value = copy.deepcopy(value)
    places: list[Any] = [(None, None)]
    waiting, seen = [value], set()
    while waiting:
        here = waiting.pop()
        if id(here) in seen:  # aliases of YAML make cycles
            continue
        seen.add(id(here))
        keys = list(here) if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        for key in keys:
            places.append((here, key))
            waiting.append(here[key])
    here, key = places[int(rng.integers(len(places)))]
    if here is None:
        return _anything(rng) if rng.random() < 0.1 else value
    match int(rng.integers(0, 6)):
        case 0:
            del here[key]
        case 1 if isinstance(here, list):
            here.extend([here[key]] * int(rng.choice([1, 10, 1000])))
        case 2 if isinstance(here, dict):
            here[WORDS[int(rng.integers(len(WORDS)))]] = here.pop(key)
        case 3:
            other, name = places[int(rng.integers(1, len(places)))]
            here[key] = copy.deepcopy(other[name]) if _has(other, name) else _anything(rng)
        case _:
            here[key] = _anything(rng)
    return value


def _has(here: Any, key: Any) -> bool:
    return key in here if isinstance(here, dict) else 0 <= key < len(here)


def json_text(data: bytes, rng: Rng) -> bytes:
    return json.dumps(tree(json.loads(data), rng)).encode()


def yaml_text(data: bytes, rng: Rng) -> bytes:
    import yaml

    if rng.random() < 0.4:
        return data + YAML[int(rng.integers(len(YAML)))]
    try:
        return yaml.safe_dump(tree(yaml.safe_load(data), rng)).encode()
    except (yaml.YAMLError, ValueError, AttributeError, TypeError):  # what tags such as !!timestamp raise
        return raw(data, rng)


def glb(data: bytes, rng: Rng) -> bytes:
    """Its JSON is hurt and packed again with lengths that fit."""
    (length,) = struct.unpack_from("<I", data, 12)
    text = json_text(data[20 : 20 + length], rng)
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    return head + text + rest


def xml(data: bytes, rng: Rng) -> bytes:
    from lxml import etree

    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))
    except etree.XMLSyntaxError:
        return raw(data, rng)
    every = list(root.iter("*"))
    here = every[int(rng.integers(len(every)))]
    attributes = [(element, key) for element in every for key in element.attrib]
    match int(rng.integers(0, 7)):
        case 0 if here is not root:
            here.getparent().remove(here)
        case 1 if here is not root:
            for _ in range(int(rng.choice([1, 2, 50]))):
                here.addnext(copy.deepcopy(here))
        case 2:
            here.append(copy.deepcopy(every[int(rng.integers(len(every)))]))
        case 3:
            here.tag = every[int(rng.integers(len(every)))].tag
        case 4 if attributes:
            element, key = attributes[int(rng.integers(len(attributes)))]
            del element.attrib[key]
        case _ if attributes:
            element, key = attributes[int(rng.integers(len(attributes)))]
            value = _anything(rng) if rng.random() < 0.5 else _word(element.get(key), rng)
            element.set(key, re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", str(value)[:6000]))
    return etree.tostring(root)


def _word(text: str, rng: Rng) -> str:
    """A row of words with one of them replaced."""
    words = text.split() or [""]
    words[int(rng.integers(len(words)))] = str(_number(rng))
    return " ".join(words)


def npz(data: bytes, rng: Rng) -> bytes:
    """One member is hurt, lost, or has another type or shape; checksums of the archive fit."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[int(rng.integers(len(members)))]
    match int(rng.integers(0, 5)):
        case 0:
            del members[name]
        case 1 | 2 if name.endswith(".npy"):
            members[name] = npy(members[name], rng)
        case 3:
            members[WORDS[int(rng.integers(len(WORDS)))].replace("\0", "") or "x"] = members.pop(name)
        case _:
            members[name] = raw(members[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, value in members.items():
            archive.writestr(zipfile.ZipInfo(key[:200], (1980, 1, 1, 0, 0, 0)), value)
    return out.getvalue()


def npy(data: bytes, rng: Rng) -> bytes:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    match int(rng.integers(0, 6)):
        case 0:
            array = array.reshape(-1)
        case 1:
            array = array[..., None]
        case 2:
            array = array[: int(rng.integers(0, len(array) + 1))] if array.ndim else array
        case 3:
            array = array.astype(rng.choice(["f4", "f8", "i1", "u8", "c16", "?", "U5"]))
        case 4 if array.size and array.dtype.kind in "fiu":
            array = array.copy()
            with np.errstate(all="ignore"):
                value = np.array(
                    float(_number(rng)) if array.dtype.kind == "f" else int(rng.choice([-1, 0, 255, 2**31 - 1]))
                )
                array.reshape(-1)[int(rng.integers(array.size))] = value.astype(array.dtype)
        case _:
            return _header(data, rng)
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _header(data: bytes, rng: Rng) -> bytes:
    """The header of an array says something else about the same bytes."""
    (length,) = struct.unpack_from("<H", data, 8)
    text = numbers(data[10 : 10 + length], rng).ljust(length)[: max(length, 16)]
    return data[:8] + struct.pack("<H", len(text)) + text + data[10 + length :]


def safetensors(data: bytes, rng: Rng) -> bytes:
    (length,) = struct.unpack_from("<Q", data, 0)
    if rng.random() < 0.3 and len(data) > 8 + length + 2:
        at = 8 + length + 2 * int(rng.integers((len(data) - 8 - length) // 2))
        return data[:at] + rng.choice([b"\x00\x7c", b"\x00\x7e", b"\xff\x7b", b"\x01\x00"]) + data[at + 2 :]
    text = json_text(data[8 : 8 + length], rng)
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


STRUCTURED: dict[str, Mutation] = {
    "dae": xml, "glb": glb, "gltf": json_text, "json": json_text, "npy": npy, "npz": npz, "safetensors": safetensors,
    "neurok": npz, "urdf": xml, "usdz": npz, "xml": xml, "yaml": yaml_text, "zip": npz,
}  # fmt: skip
"""By suffix; other files are hurt as bytes and texts alone."""
