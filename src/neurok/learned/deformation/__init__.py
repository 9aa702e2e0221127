"""A rest mesh and a pose to a latent, a latent to displacements: the learned kinematic space (NeuROK)."""
