"""What household things are usually made of: pools of materials with the colours they come in."""

from __future__ import annotations

from neurok.catalogue.appearance import Words, draw_appearance, words_of
from neurok.catalogue.parts import Appearance
from neurok.modelling.sampler import Sampler


def _pools(pools: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {kind: words_of(colours) for kind, colours in pools.items()}


WOODS = _pools(
    {
        "oak": "light brown*2, tan, beige",
        "pine": "beige*2, tan, light brown",
        "beech": "light brown, beige, tan",
        "walnut": "brown, dark brown*2",
        "wood": "brown, light brown, dark brown, terracotta",
        "plywood": "beige, tan, light brown",
        "bamboo": "beige, tan, yellow",
    }
)
"""Colours in which each wood is seen bare."""

METALS = _pools(
    {
        "steel": "silver*2, grey, black*2, charcoal, white*2",
        "aluminium": "silver, light grey, grey",
        "cast iron": "black, charcoal, dark brown",
        "brass": "gold",
        "copper": "terracotta, gold",
    }
)
FITTINGS = {
    "steel": "silver*2, black*2, charcoal",
    "brass": "gold",
    "wood": "brown, light brown, dark brown, white",
    "ceramic": "white, cream, light blue",
    "aluminium": "silver, light grey",
}
PAINTED = words_of("white*5, black*3, cream, grey, charcoal, light blue, mint, red, green, yellow, navy, pink")
BRIGHT = words_of(
    "red, burgundy, coral, orange, terracotta, yellow, mustard, olive, green, mint, teal, turquoise, blue, navy, "
    "lavender, purple, pink, tan, brown, lime green, dark green, light blue, hot pink, peach, plum"
)
NEUTRAL = words_of("white*2, cream*2, beige*2, light grey, grey, charcoal, black, tan, brown, dark brown")
CLOTHS = "cotton*2, linen, velvet, polyester, wool, canvas, denim, suede, burlap"
HIDES = "leather*2, artificial leather"
PADDED = "none*3, soft*2, firm"
PRINTS = "plain*22, weave*2, stripes, bands, checks, plaid, dots, floral"
WEIGHTS = "none*3, heavy, light"
"""How heavy wood and metal feel."""


def cloth_colours(d: Sampler) -> tuple[str, ...]:
    """Half of all cloth is white, grey, beige or brown."""
    return NEUTRAL if d.chance(0.5) else BRIGHT


def wood(d: Sampler, painted: float = 0.25, grain: float = 0.7) -> Appearance:
    kind = d.pick(list(WOODS), [3, 3, 2, 3, 3, 1, 0.5])
    if d.chance(painted):
        return draw_appearance(d, PAINTED, "wood, mdf, pine", tile=0.25)
    pattern = "wood" if d.chance(grain) else "plain"
    return draw_appearance(d, WOODS[kind], kind, patterns=pattern, feels=WEIGHTS, tile=0.25)


def metal(d: Sampler) -> Appearance:
    kind = d.pick(list(METALS), [6, 2, 1.5, 1, 0.4])
    return draw_appearance(d, METALS[kind], kind, feels=WEIGHTS)


def plastic(d: Sampler) -> Appearance:
    plastics = "abs, polypropylene*2, fibreglass"
    return draw_appearance(d, [*PAINTED, *BRIGHT], plastics, feels="none*2, stiff, flexible")


def frame(d: Sampler) -> Appearance:
    """What legs and frames are made of."""
    return d.pick([wood, metal, plastic], [5, 3.5, 0.6])(d)


def padding(
    d: Sampler, filling: str = "upholstery", hides: float = 0.25, prints: Words = PRINTS, tile: float = 0.3
) -> Appearance:
    """Something padded, in cloth or leather."""
    if d.chance(hides):
        colours = "black*2, brown, dark brown, tan, white, burgundy, cream, red, charcoal, grey"
        return draw_appearance(d, colours, filling, covers=HIDES, feels=PADDED)
    cloth, tile = cloth_colours(d), d.between(0.6, 1.3) * tile
    return draw_appearance(d, cloth, filling, covers=CLOTHS, feels=PADDED, patterns=prints, tile=tile)


def ceramic(d: Sampler, bare: float = 0.3) -> Appearance:
    """Pots and vases: fired clay, or glazed in any colour."""
    feels = "none*2, heavy, light"
    if d.chance(bare):
        return draw_appearance(d, "terracotta*2, tan, brown, beige", "terracotta", feels=feels)
    colours = [*words_of("white*5, cream, beige, light grey, charcoal, black"), *BRIGHT]
    patterns, tile = "plain*7, bands, marble, floral, dots", d.between(0.12, 0.3)
    return draw_appearance(d, colours, "ceramic*2, porcelain", feels=feels, patterns=patterns, tile=tile)


def board(d: Sampler, painted: float = 0.35) -> Appearance:
    """What cabinets and desks are made of: wood, or boards with a plain face."""
    if d.chance(0.15):
        colours = "white*2, cream, beige, light grey, grey, black, light brown"
        return draw_appearance(d, colours, "particleboard, mdf", feels="none*2, heavy")
    return wood(d, painted=painted, grain=0.8)


def fittings(d: Sampler) -> Appearance:
    """What handles and knobs are made of."""
    kind = d.pick(list(FITTINGS), [5, 2, 1.5, 1, 1])
    return draw_appearance(d, FITTINGS[kind], kind)


def enamel(d: Sampler) -> Appearance:
    """What appliances are clad in: bare or painted sheet metal, seldom plastic."""
    if d.chance(0.35):
        return draw_appearance(d, "silver*2, grey, light grey", "steel*2, aluminium")
    return draw_appearance(
        d, "white*6, black*3, cream, red, mint, light blue, charcoal, yellow, pink, teal", "steel*2, abs"
    )


def pane(d: Sampler) -> Appearance:
    """Clear glass, a little tinted."""
    return draw_appearance(d, "white, light grey, light blue, mint", "glass")


def milk_glass(d: Sampler) -> Appearance:
    """Glass that lets light through but hides what is behind it."""
    return draw_appearance(d, "white, light grey, light blue*2, mint", "glass", feels="stiff")


def dark_glass(d: Sampler) -> Appearance:
    """Opaque glass: screens and windows of ovens."""
    return draw_appearance(d, "black*2, charcoal", "glass", feels="stiff")
