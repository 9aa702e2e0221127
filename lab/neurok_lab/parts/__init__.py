"""Parts of real models: the autoencoder with split codes, its whole-object variant, and the fitting of forms."""
