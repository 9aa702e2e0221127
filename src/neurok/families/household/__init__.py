"""Household things as lists of parts: twelve categories and ten that move, every instance different and checked."""

from neurok.families.household.asset import asset_of as asset_of
from neurok.families.household.categories import draw as draw
from neurok.families.household.categories import generate as generate
from neurok.families.household.categories import split_of as split_of
from neurok.families.household.checks import check_assembly as check_assembly
from neurok.families.household.parts import Assembly as Assembly
from neurok.families.household.parts import Hinge as Hinge
from neurok.families.household.parts import Look as Look
from neurok.families.household.parts import Part as Part
from neurok.families.household.parts import Repeat as Repeat
from neurok.families.household.vocabulary import CATEGORIES as CATEGORIES
from neurok.families.household.vocabulary import MOVING_TEN as MOVING_TEN
from neurok.families.household.vocabulary import SOFT_TWELVE as SOFT_TWELVE
