"""The kit that builds meshes: profiles, shapes, sweeps, booleans, looks and hardware."""
