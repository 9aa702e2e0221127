"""Moved to ``neurok.doctor.anatomy``."""

from neurok.doctor.anatomy import check_winding as check_winding
