"""Files to nouns and back; one file per format."""

from neurok.io.formats import load as load
from neurok.io.formats import load_articulation as load_articulation
from neurok.io.formats import load_clip as load_clip
from neurok.io.formats import load_mesh as load_mesh
from neurok.io.formats import save as save
