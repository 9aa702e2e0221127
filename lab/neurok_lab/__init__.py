"""The workshop beside neurok: generated worlds, data sets, training, fitting, evaluation.

It makes the weights and the tables of the documentation. neurok never imports it.
"""
