"""Pictures and films of objects, without a screen."""

from neurok.rendering.camera import Camera as Camera
from neurok.rendering.files import clip_sheet as clip_sheet
from neurok.rendering.files import contact_sheet as contact_sheet
from neurok.rendering.files import render_clip as render_clip
from neurok.rendering.files import render_grid as render_grid
from neurok.rendering.files import render_mesh as render_mesh
from neurok.rendering.files import render_turntable as render_turntable
from neurok.rendering.files import save_image as save_image
from neurok.rendering.files import save_video as save_video
from neurok.rendering.markers import Arrow as Arrow
from neurok.rendering.markers import Axis as Axis
from neurok.rendering.markers import Ball as Ball
from neurok.rendering.markers import joint_markers as joint_markers
from neurok.rendering.renderer import Renderer as Renderer
