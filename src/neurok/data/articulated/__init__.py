"""Procedural families of articulated objects: every instance different, every instance checked."""

from neurok.data.articulated.checks import check_articulated as check_articulated
from neurok.data.articulated.families import FAMILIES as FAMILIES
from neurok.data.articulated.families import generate as generate
from neurok.data.articulated.families import make_family as make_family
