"""What household things are usually made of: pools of materials with the colours they come in."""

from __future__ import annotations

from collections.abc import Sequence

from neurok.families.household.looks import draw_look
from neurok.families.household.parts import Feel, Look, Pattern
from neurok.modelling.dice import Dice

WOODS = {
    "oak": ("light brown", "light brown", "tan", "beige"),
    "pine": ("beige", "beige", "tan", "light brown"),
    "beech": ("light brown", "beige", "tan"),
    "walnut": ("brown", "dark brown", "dark brown"),
    "wood": ("brown", "light brown", "dark brown", "terracotta"),
    "plywood": ("beige", "tan", "light brown"),
    "bamboo": ("beige", "tan", "yellow"),
}
"""Colours in which each wood is seen bare."""

PAINTED = (
    ("white",) * 5
    + ("black",) * 3
    + ("cream", "grey", "charcoal", "light blue", "mint", "red", "green", "yellow", "navy", "pink")
)
METALS = {
    "steel": ("silver", "silver", "grey", "black", "black", "charcoal", "white", "white"),
    "aluminium": ("silver", "light grey", "grey"),
    "cast iron": ("black", "charcoal", "dark brown"),
    "brass": ("gold",),
    "copper": ("terracotta", "gold"),
}
BRIGHT = [
    "red",
    "burgundy",
    "coral",
    "orange",
    "terracotta",
    "yellow",
    "mustard",
    "olive",
    "green",
    "mint",
    "teal",
    "turquoise",
    "blue",
    "navy",
    "lavender",
    "purple",
    "pink",
    "tan",
    "brown",
] + ["lime green", "dark green", "light blue", "hot pink", "peach", "plum"]
NEUTRAL = [
    "white",
    "white",
    "cream",
    "cream",
    "beige",
    "beige",
    "light grey",
    "grey",
    "charcoal",
    "black",
    "tan",
    "brown",
    "dark brown",
]
CLOTHS = ("cotton", "cotton", "linen", "velvet", "polyester", "wool", "canvas", "denim", "suede", "burlap")
HIDES = ("leather", "leather", "artificial leather")
PADDED: tuple[Feel, ...] = ("", "", "", "soft", "soft", "firm")
PRINTS: tuple[Pattern, ...] = ("plain",) * 22 + (
    "weave",
    "weave",
    "stripes",
    "bands",
    "checks",
    "plaid",
    "dots",
    "floral",
)


def cloth_colours(d: Dice) -> list[str]:
    """Half of all cloth is white, grey, beige or brown."""
    return NEUTRAL if d.chance(0.5) else list(BRIGHT)


def wood(d: Dice, painted: float = 0.25, grain: float = 0.7) -> Look:
    kind = d.pick(list(WOODS), [3, 3, 2, 3, 3, 1, 0.5])
    if d.chance(painted):
        return draw_look(d, PAINTED, "wood, mdf, pine", tile=0.25)
    pattern: Pattern = "wood" if d.chance(grain) else "plain"
    return draw_look(d, WOODS[kind], [kind], patterns=[pattern], feels="none*3, heavy, light", tile=0.25)


def metal(d: Dice) -> Look:
    kind = d.pick(list(METALS), [6, 2, 1.5, 1, 0.4])
    return draw_look(d, METALS[kind], [kind], feels="none*3, heavy, light")


def plastic(d: Dice) -> Look:
    colours = [*PAINTED, *BRIGHT]
    return draw_look(d, colours, "abs, polypropylene*2, fibreglass", feels="none*2, stiff, flexible")


def frame(d: Dice) -> Look:
    """What legs and frames are made of."""
    return d.pick([wood, metal, plastic], [5, 3.5, 0.6])(d)


def padding(
    d: Dice,
    filling: str = "upholstery",
    hides: float = 0.25,
    prints: Sequence[Pattern] = PRINTS,
    tile: float = 0.3,
    colours: Sequence[str] = (),
) -> Look:
    """Something padded, in cloth or leather."""
    if d.chance(hides):
        shades = [
            "black",
            "black",
            "brown",
            "dark brown",
            "tan",
            "white",
            "burgundy",
            "cream",
            "red",
            "charcoal",
            "grey",
        ]
        return draw_look(d, colours or shades, [filling], covers=HIDES, feels=PADDED)
    return draw_look(
        d,
        colours or cloth_colours(d),
        [filling],
        covers=CLOTHS,
        feels=PADDED,
        patterns=prints,
        tile=d.between(0.6, 1.3) * tile,
    )


def ceramic(d: Dice, bare: float = 0.3) -> Look:
    """Pots and vases: fired clay, or glazed in any colour."""
    feels: tuple[Feel, ...] = ("", "", "heavy", "light")
    if d.chance(bare):
        return draw_look(d, "terracotta*2, tan, brown, beige", "terracotta", feels=feels)
    colours = ["white"] * 5 + ["cream", "beige", "light grey", "charcoal", "black"] + list(BRIGHT)
    patterns: tuple[Pattern, ...] = ("plain",) * 7 + ("bands", "marble", "floral", "dots")
    return draw_look(d, colours, "ceramic*2, porcelain", feels=feels, patterns=patterns, tile=d.between(0.12, 0.3))


def board(d: Dice, painted: float = 0.35) -> Look:
    """What cabinets and desks are made of: wood, or boards with a plain face."""
    if d.chance(0.15):
        colours = ["white", "white", "cream", "beige", "light grey", "grey", "black", "light brown"]
        return draw_look(d, colours, "particleboard, mdf", feels="none*2, heavy")
    return wood(d, painted=painted, grain=0.8)


def fittings(d: Dice) -> Look:
    """What handles and knobs are made of."""
    kind = d.pick(["steel", "brass", "wood", "ceramic", "aluminium"], [5, 2, 1.5, 1, 1])
    colours = {
        "steel": ("silver", "silver", "black", "black", "charcoal"),
        "brass": ("gold",),
        "wood": ("brown", "light brown", "dark brown", "white"),
        "ceramic": ("white", "cream", "light blue"),
        "aluminium": ("silver", "light grey"),
    }[kind]
    return draw_look(d, colours, [kind])


def enamel(d: Dice) -> Look:
    """What appliances are clad in: bare or painted sheet metal, seldom plastic."""
    if d.chance(0.35):
        return draw_look(d, "silver*2, grey, light grey", "steel*2, aluminium")
    colours = (
        ["white"] * 6 + ["black"] * 3 + ["cream", "red", "mint", "light blue", "charcoal", "yellow", "pink", "teal"]
    )
    return draw_look(d, colours, "steel*2, abs")


def pane(d: Dice) -> Look:
    """Clear glass, a little tinted."""
    return draw_look(d, "white, light grey, light blue, mint", "glass")


def milk_glass(d: Dice) -> Look:
    """Glass that lets light through but no look."""
    return draw_look(d, "white, light grey, light blue*2, mint", "glass", feels="stiff")


def dark_glass(d: Dice) -> Look:
    """Glass that one does not look through: screens and windows of ovens."""
    return draw_look(d, "black*2, charcoal", "glass", feels="stiff")
