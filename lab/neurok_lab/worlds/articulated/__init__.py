"""Procedural families of articulated objects: every instance different, every instance checked."""

from neurok_lab.worlds.articulated.checks import check_articulated as check_articulated
from neurok_lab.worlds.articulated.families import FAMILIES as FAMILIES
from neurok_lab.worlds.articulated.families import generate as generate
from neurok_lab.worlds.articulated.families import make_family as make_family
