"""Procedural families of articulated objects: every instance different, every instance checked."""

from neurok.families.articulated.checks import check_articulated as check_articulated
from neurok.families.articulated.families import FAMILIES as FAMILIES
from neurok.families.articulated.families import generate as generate
from neurok.families.articulated.families import make_family as make_family
