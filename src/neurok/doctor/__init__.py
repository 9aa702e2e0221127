"""The mesh doctor: what a mesh is, what is wrong with it, and how to mend it."""

from neurok.doctor.diagnosis import Diagnosis as Diagnosis
from neurok.doctor.diagnosis import Problem as Problem
from neurok.doctor.diagnosis import diagnose as diagnose
from neurok.doctor.frame import Guess as Guess
from neurok.doctor.repair import Repair as Repair
from neurok.doctor.repair import mend as mend
from neurok.doctor.repair import mended_asset as mended_asset
from neurok.doctor.repair import repair as repair
from neurok.doctor.size_limit import decimate as decimate
from neurok.doctor.size_limit import decimate_asset as decimate_asset
