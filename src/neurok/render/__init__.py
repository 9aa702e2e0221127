"""Pictures and films of objects, without a screen."""

from neurok.render.camera import Camera as Camera
from neurok.render.files import save_image as save_image
from neurok.render.files import save_video as save_video
from neurok.render.markers import Arrow as Arrow
from neurok.render.markers import Axis as Axis
from neurok.render.markers import Ball as Ball
from neurok.render.markers import joint_markers as joint_markers
from neurok.render.pictures import clip_sheet as clip_sheet
from neurok.render.pictures import contact_sheet as contact_sheet
from neurok.render.pictures import render_clip as render_clip
from neurok.render.pictures import render_grid as render_grid
from neurok.render.pictures import render_mesh as render_mesh
from neurok.render.pictures import render_turntable as render_turntable
from neurok.render.renderer import Renderer as Renderer
