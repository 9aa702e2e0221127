"""Moved to ``neurok.doctor.frame``."""

from neurok.doctor.frame import unit_name as unit_name
from neurok.doctor.frame import up_evidence as up_evidence
