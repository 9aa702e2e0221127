"""The gallery: two dozen objects, words, joints, materials and actions, each with the one line that makes it.

Run: python benchmarks/gallery_readme.py [--only NUMBER ...]

Every line is run as it stands in ``docs/gallery.md``, in an empty folder; the pictures there are what came out.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shlex
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from figures import stamp
from PIL import Image

from neurok.cli import main as command

ROOT = Path(__file__).parents[1]
PAGE, PICTURES = ROOT / "docs" / "gallery.md", ROOT / "docs" / "images" / "gallery"
THUMBNAIL, COLUMNS = (360, 300), 3


@dataclass(frozen=True)
class Exhibit:
    """A picture and the line that makes it."""

    title: str
    line: str
    """Its last word is the picture."""

    @property
    def picture(self) -> str:
        return shlex.split(self.line)[-1]


EXHIBITS = (
    Exhibit("A laptop falls", "neurok simulate sample:laptop --act drop --seconds 1 --out laptop.png"),
    Exhibit("A pillow squashes", "neurok simulate sample:pillow --act drop --seconds 1 --out pillow.png"),
    Exhibit("States of a cabinet", "neurok sample sample:cabinet --count 4 --seed 2 --out opened.png"),
    Exhibit("A door is pushed", "neurok simulate sample:cabinet --push door:0,0,20 --seconds 1 --out door.png"),
    Exhibit("A lamp sinks", "neurok simulate sample:lamp --seconds 0.8 --out lamp.png"),
    Exhibit("A cabinet is thrown", "neurok simulate sample:cabinet --act throw --seconds 1 --out thrown.png"),
    Exhibit("Joints of a bare mesh", "neurok plan sample:cabinet --raw --out joints.png"),
    Exhibit("States from the shape alone", "neurok sample sample:laptop --space learned --count 4 --out states.png"),
    Exhibit("What parts are made of", "neurok materials sample:cabinet --out materials.png"),
    Exhibit("A sofa from words", "neurok generate --text 'a red velvet sofa on oak legs' --out sofa.png"),
    Exhibit(
        "A chair from words",
        "neurok generate --text 'a white chair with a red seat and four steel legs' --out chair.png",
    ),
    Exhibit(
        "A bed from words", "neurok generate --text 'a wooden bed with two pillows and a blue blanket' --out bed.png"
    ),
    Exhibit("A teddy bear", "neurok generate --text 'a brown teddy bear with a blue bow' --out bear.png"),
    Exhibit("A vase", "neurok generate --text 'a tall blue ceramic vase' --out vase.png"),
    Exhibit("A crib", "neurok generate --text 'a white crib with wooden slats' --out crib.png"),
    Exhibit("A hat", "neurok generate --text 'a straw hat with a black ribbon' --out hat.png"),
    Exhibit("Words that move", "neurok generate --text 'a cabinet with two doors' --act tilt --out cabinet.png"),
    Exhibit("Four seeds", "neurok generate --text 'a potted plant' --count 4 --out plants.png"),
    Exhibit("A bear is dropped", "neurok generate --text 'a teddy bear' --act drop --out falling.png"),
    Exhibit("A plant in the wind", "neurok generate --text 'a potted plant' --act wind --out wind.png"),
    Exhibit("A laptop from words", "neurok generate --text 'a silver laptop' --out made_laptop.png"),
    Exhibit("A bag from words", "neurok generate --text 'a brown leather bag' --out bag.png"),
    Exhibit("A desk lamp", "neurok generate --text 'a black desk lamp' --out desk_lamp.png"),
    Exhibit(
        "Particles",
        "neurok simulate sample:pillow --engine particles --resolution coarse --drop --seconds 0.5 --out particles.png",
    ),
)


def take(exhibit: Exhibit) -> float:
    """Run the line and keep a thumbnail of its picture; processor time [s]."""
    began, here = time.process_time(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            command(shlex.split(exhibit.line)[1:])
            with Image.open(exhibit.picture) as image:
                small = image.convert("RGB")
                small.thumbnail(THUMBNAIL)
        finally:
            os.chdir(here)
    PICTURES.mkdir(parents=True, exist_ok=True)
    small.save(PICTURES / Path(exhibit.picture).with_suffix(".jpg"), quality=80)
    return time.process_time() - began


def page() -> str:
    """The page of all exhibits."""
    lines = [
        "# Gallery",
        "",
        "Each picture is what its line makes; nothing is picked. What comes out badly is shown as it is, and told in",
        "[Generation](generation.md) and [Results](results.md).",
        "",
        "|" + " |" * COLUMNS,
        "|" + "---|" * COLUMNS,
    ]
    for start in range(0, len(EXHIBITS), COLUMNS):
        cells = []
        for one in EXHIBITS[start : start + COLUMNS]:
            name = Path(one.picture).with_suffix(".jpg")
            cells.append(f"![{one.title}](images/gallery/{name})<br>**{one.title}**<br>`{one.line}`")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", stamp(), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the exhibits, from 0; all by default")
    told = parser.parse_args()
    chosen = range(len(EXHIBITS)) if told.only is None else told.only
    for number in chosen:
        seconds = take(EXHIBITS[number])
        print(f"{number}: {EXHIBITS[number].title}, {seconds:.1f} s", flush=True)
    PAGE.write_text(page())
    print(f"{PAGE.relative_to(ROOT)}, {datetime.date.today()}")


if __name__ == "__main__":
    main()
