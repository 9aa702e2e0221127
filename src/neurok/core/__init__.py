"""The nouns: frozen, validated at birth, free of files and networks."""

from neurok.core.articulation import Articulation as Articulation
from neurok.core.articulation import Inertial as Inertial
from neurok.core.articulation import Joint as Joint
from neurok.core.asset import Asset as Asset
from neurok.core.clip import Bind as Bind
from neurok.core.clip import BoneTree as BoneTree
from neurok.core.clip import Clip as Clip
from neurok.core.clip import Rollout as Rollout
from neurok.core.clip import Skin as Skin
from neurok.core.material import Material as Material
from neurok.core.material import MaterialField as MaterialField
from neurok.core.material_library import material as material
from neurok.core.mesh import Authored as Authored
from neurok.core.mesh import Mesh as Mesh
from neurok.core.surface import Finish as Finish
from neurok.core.surface import Lookup as Lookup
from neurok.core.surface import Surface as Surface
from neurok.core.surface import Texture as Texture
