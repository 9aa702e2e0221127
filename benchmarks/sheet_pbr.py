"""A sheet of pictures of files with whole materials: ``python benchmarks/sheet_pbr.py OUT.png FILE[@VIEW] ...``."""

from __future__ import annotations

import sys

from PIL import Image, ImageDraw

from neurok.io import load
from neurok.rendering.camera import Camera
from neurok.rendering.files import render_mesh

COLUMNS, WIDTH, HEIGHT = 3, 480, 400


def main() -> None:
    target, *files = sys.argv[1:]
    rows = -(-len(files) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * WIDTH, rows * HEIGHT))
    for number, file in enumerate(files):
        name, _, view = file.partition("@")
        camera = Camera.parse(view) if view else Camera()
        picture = Image.fromarray(render_mesh(load(name).mesh, WIDTH, HEIGHT, camera=camera))
        ImageDraw.Draw(picture).text((10, 8), name.rpartition("/")[2], fill=(40, 40, 40))
        sheet.paste(picture, (number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT))
    sheet.save(target)


if __name__ == "__main__":
    main()
