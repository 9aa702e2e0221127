"""Exponentials of twists under the name by which spaces know them."""

from neurok.geometry.lie import skew as cross_matrices
from neurok.geometry.twists import exponential, logarithm

__all__ = ["cross_matrices", "exponential", "logarithm"]
