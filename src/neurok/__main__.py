"""``python -m neurok`` is the ``neurok`` command."""

from neurok.cli import main

main()
