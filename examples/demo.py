"""Open and close the built-in laptop: an animated GLB, a film and a contact sheet."""

import argparse
from pathlib import Path

import neurok
from neurok.render import clip_sheet, render_clip, save_image, save_video


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"))
    out = parser.parse_args().out

    laptop = neurok.load("sample:laptop").articulation
    assert laptop is not None
    clip = laptop.clip(laptop.sweep(72), fps=24, name="open and close")
    neurok.save(clip, out / "laptop.glb")
    save_video(render_clip(clip), out / "laptop.mp4", fps=24)
    save_image(clip_sheet(clip, 8), out / "laptop.png")
    check(out)


def check(out: Path) -> None:
    """The example did what it says."""
    again = neurok.load(out / "laptop.glb")
    assert again.clips[0].frame_count > 1
    for name in ("laptop.glb", "laptop.mp4", "laptop.png"):
        print(f"{out / name}  {(out / name).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
