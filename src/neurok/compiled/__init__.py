"""Inner loops of simulations over arrays too small for numpy, compiled to machine code.

Each is compiled when it is first called and kept in a cache beside the source, so a user pays for it once. Results have
the same bits in every run: nothing is reordered, nothing runs in parallel.
"""
