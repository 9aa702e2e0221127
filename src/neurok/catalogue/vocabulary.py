"""All words that parts may carry, in a fixed order: what a network counts them by.

The words of captions: many ways of saying a category, a part, a style, a material.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

SOFT_TWELVE = (
    "bag", "bed", "chair", "crib", "hat", "headband", "love seat", "pillow", "plant", "sofa", "teddy bear", "vase",
)  # fmt: skip
"""Things that are sat on, worn, filled or looked at; few of them have joints."""

MOVING_TEN = ("cabinet", "table", "desk", "lamp", "laptop", "box", "microwave", "fridge", "door", "bin")
"""Things with doors, drawers, lids and arms that move."""

CATEGORIES = SOFT_TWELVE + MOVING_TEN
"""New ones go to the end, so that those there are keep their numbers; so it is with the words below."""

PART_NAMES = (
    "apron", "arm", "arm support", "armrest", "back", "back cushion", "band", "base", "basket", "bead", "belly",
    "blanket", "body", "bow", "branch", "brim", "buckle", "button", "castor", "chaise", "chaise cushion", "clasp",
    "column", "cross bar", "crown", "cushion", "door", "drawer", "ear", "end panel", "eye", "flap", "flower",
    "flower centre", "folded sheet", "foot", "foot ring", "footboard", "footrest", "frame", "gate", "handle",
    "head", "headboard", "headrest", "inner ear", "knob", "knot", "leaf", "leg", "lower rail", "mattress", "muzzle",
    "nose", "paw", "peak", "pedestal", "petal", "pillow", "pocket", "pompom", "post", "pot", "rail", "rim",
    "rocker", "saucer", "scarf", "seat", "seat cushion", "shell", "slat", "soil", "spindle", "splat", "star base",
    "stem", "strap", "stretcher", "tail", "tassel", "throw", "throw pillow", "tie", "top rail", "trunk", "wing",
    "zip",
    "back panel", "bulb", "control panel", "cord", "corner", "display", "divider", "door shelf", "glass pane",
    "hinge", "hood", "jamb", "joint", "keyboard", "lid", "lintel", "lock", "mirror", "panel", "pedal", "plinth",
    "screen", "shade", "shelf", "side panel", "switch", "threshold", "top", "trackpad", "tray", "turntable", "vent",
    "window",
)  # fmt: skip

STYLES = (
    "amphora", "arched", "bent", "bottle", "bowl", "boxy", "braided", "bulbous", "carved", "channelled", "crossed",
    "curly", "curved", "cylindrical", "faceted", "fat", "flared", "flat", "floppy", "fluted", "footed",
    "heart-shaped", "high", "long", "low", "narrow", "oblong", "oval", "padded", "panel", "pointed", "quilted",
    "ribbed", "rimmed", "rolled", "round", "rounded", "scalloped", "short", "sitting", "slatted", "sliding",
    "sloped", "splayed", "square", "standing", "swivelling", "tall", "tapered", "thick", "thin", "trumpet",
    "tufted", "turned", "urn", "wavy", "wide", "winged", "woven",
    "bar", "conical", "cup", "domed", "drum", "framed", "glazed", "hinged", "jointed", "lever", "louvred", "panelled",
    "ring", "swinging", "tripod",
)  # fmt: skip

MATERIALS = (
    "cotton", "wool", "polyester", "linen", "silk", "denim", "canvas", "burlap", "velvet", "felt", "knit",
    "carpet", "leather", "suede", "artificial leather", "polyurethane foam", "memory foam", "latex foam",
    "sponge", "upholstery", "mattress", "stuffing", "down", "expanded polystyrene", "wood", "oak", "pine",
    "walnut", "beech", "balsa", "green wood", "plywood", "mdf", "particleboard", "bamboo", "rattan", "cork",
    "bark", "straw", "steel", "steel tube", "cast iron", "aluminium", "brass", "copper", "zinc", "silver", "gold",
    "lead", "titanium", "ceramic", "porcelain", "terracotta", "glass", "marble", "granite", "concrete", "brick",
    "plaster", "abs", "polypropylene", "polyethylene", "pvc", "nylon", "acrylic", "polycarbonate", "polystyrene",
    "bakelite", "fibreglass", "carbon fibre", "rubber", "neoprene", "silicone", "soft vinyl", "paper",
    "cardboard", "soil", "sand", "gravel", "clay", "snow", "ice", "leaf", "petal", "stem", "grass", "fruit",
    "flesh", "skin", "fur", "bone", "horn", "water", "oil", "gelatin", "wax", "dough",
)  # fmt: skip
"""Materials of the library that networks choose from; those that come later are not among them."""

ROLE_OF = {
    name: role
    for role, names in {
        "body": "back panel, base, basket, body, crown, divider, door shelf, end panel, frame, head, hood, peak, "
        "pocket, pot, rail, saucer, shade, shelf, soil, top, tray",
        "trim": "band, bead, bow, branch, buckle, bulb, button, clasp, control panel, corner, glass pane, hinge, "
        "joint, keyboard, knot, lock, mirror, panel, pompom, rim, scarf, tassel, tie, trackpad, window, zip",
        "moving": "door, drawer, gate, lid, pedal, turntable",
        "support": "apron, castor, column, foot, foot ring, jamb, leg, lintel, pedestal, plinth, rocker, side panel, "
        "star base, stretcher, threshold",
        "face": "belly, display, eye, inner ear, muzzle, nose, screen",
        "handle": "handle, knob, strap",
        "cover": "blanket, flap, folded sheet, throw",
        "limb": "arm, ear, paw, tail",
        "cushion": "back cushion, cushion, mattress, pillow, throw pillow",
        "back": "back, cross bar, footboard, headboard, headrest, lower rail, post, slat, spindle, splat, top rail, "
        "wing",
        "seat": "chaise, chaise cushion, seat, seat cushion, shell",
        "arm": "arm support, armrest",
        "foliage": "flower, flower centre, leaf, petal, stem, trunk",
    }.items()
    for name in names.split(", ")
}
"""What a part of each name is for (``parts.Role``), unless its object says otherwise."""


@cache
def table() -> Mapping[str, Any]:
    """All lists of ``words.json``."""
    return json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def material_words() -> Mapping[str, str]:
    """Name in the material library of every word that captions use for a material."""
    return {word: name for name, words in table()["materials"].items() for word in words}


def said_as(kind: str, word: str) -> list[str]:
    """Ways of saying a word of one kind (``parts``, ``styles``, ``feels`` ...); the word itself at least."""
    return table()[kind].get(word, [word])  # type: ignore[no-any-return]


def plural(noun: str) -> str:
    """More than one of it."""
    first, _, last = noun.rpartition(" ")
    known = table()["plurals"].get(last)
    last = known or (last + ("es" if last.endswith(("s", "sh", "ch", "x")) else "s"))
    return f"{first} {last}" if first else last


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def number(count: int) -> str:
    """A count in letters up to twelve."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def article(phrase: str) -> str:
    """``a`` or ``an`` before a phrase."""
    return f"an {phrase}" if phrase[:1].lower() in "aeiou" else f"a {phrase}"
