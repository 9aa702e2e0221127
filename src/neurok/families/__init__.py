"""Generated objects, on the modelling kit: articulated ones and soft ones."""
