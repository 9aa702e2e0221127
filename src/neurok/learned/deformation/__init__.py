"""A rest mesh and a pose to a latent, a latent to displacements: the learned kinematic space (NeuROK)."""

from neurok.learned.deformation.models import build_model as build_model
from neurok.learned.deformation.models import model_config as model_config
