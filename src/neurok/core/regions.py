"""Moved to ``neurok.core.select``."""

from neurok.core.select import Region as Region
from neurok.core.select import regions_of as regions_of
from neurok.core.select import select_stuff as select_stuff
