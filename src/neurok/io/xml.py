"""XML without surprises: no entities, no document types, no network, bounded size and depth."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.errors import FormatError
from neurok.io.files import unique_names as names_apart

MAX_XML_BYTES = 64 * 1024**2
MAX_DEPTH = 200
Element = Any
"""An lxml element."""


def parse(data: bytes, what: str) -> Element:
    """The root element; ``what`` names the file in the sentence of an error."""
    from lxml import etree

    if len(data) > MAX_XML_BYTES:
        raise FormatError(
            f"{what} has {len(data) / 1e6:.0f} MB of XML; at most {MAX_XML_BYTES // 1024**2} MB are read."
        )
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise FormatError(f"{what} is not well-formed XML: {error}.") from error
    info = root.getroottree().docinfo
    if info.internalDTD is not None or info.externalDTD is not None or info.doctype:
        raise FormatError(f"{what} declares a document type, which can name other files; remove the DOCTYPE.")
    if _depth(root) > MAX_DEPTH:
        raise FormatError(f"{what} nests its elements more than {MAX_DEPTH} deep.")
    return root


def _depth(root: Element) -> int:
    deepest, level = 0, [root]
    while level:
        deepest += 1
        level = [child for element in level for child in element]
    return deepest


def numbers(element: Element | None, attribute: str, default: tuple[float, ...], what: str) -> Float[np.ndarray, " N"]:
    """The finite numbers of an attribute, as many as the default has; the default where it is absent."""
    text = None if element is None else element.get(attribute)
    if text is None:
        return np.array(default, dtype=np.float64)
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != len(default) or not all(math.isfinite(v) and abs(v) < 1e15 for v in values):
        raise FormatError(f"{what} has {attribute}='{text[:60]}'; {len(default)} finite number(s) are needed.")
    return np.array(values)


def number(element: Element | None, attribute: str, default: float, what: str) -> float:
    """One finite number of an attribute."""
    return float(numbers(element, attribute, (default,), what)[0])


def clean_name(name: str) -> str:
    """The name without the characters XML forbids."""
    return re.sub(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "_", name).strip() or "part"


def unique_names(names: list[str] | tuple[str, ...], taken: tuple[str, ...] = ()) -> list[str]:
    """Clean names, made different by a number where they repeat or are taken."""
    return names_apart(map(clean_name, names), taken)
