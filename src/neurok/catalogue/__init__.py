"""Household things as lists of parts: twelve categories and ten that move, every instance different and checked."""

from neurok.catalogue.asset import asset_of as asset_of
from neurok.catalogue.categories import draw as draw
from neurok.catalogue.categories import generate as generate
from neurok.catalogue.categories import split_of as split_of
from neurok.catalogue.checks import check_assembly as check_assembly
from neurok.catalogue.parts import Appearance as Appearance
from neurok.catalogue.parts import Assembly as Assembly
from neurok.catalogue.parts import Hinge as Hinge
from neurok.catalogue.parts import Part as Part
from neurok.catalogue.parts import Repeat as Repeat
from neurok.catalogue.vocabulary import CATEGORIES as CATEGORIES
from neurok.catalogue.vocabulary import MOVING_TEN as MOVING_TEN
from neurok.catalogue.vocabulary import SOFT_TWELVE as SOFT_TWELVE
