"""Our renderer beside Khronos' sample renderer, with the same camera and the same studio light.

    npm install --prefix FOLDER @khronosgroup/gltf-viewer
    python benchmarks/sheet_beside_khronos.py SHEET.jpg --viewer FOLDER FILE[@VIEW] ...

It draws in Chromium (``NEUROK_CHROMIUM``, or the one on the path) through Playwright. The studio is handed over as a
panorama with its panels and as lights of ``KHR_lights_punctual``; shadows, ground and the shade of the sky are left out
there, since it knows none. Prints for each file how far the mean colours are apart, over the pixels of the object.
"""

from __future__ import annotations

import argparse
import base64
import http.server
import io
import json
import os
import shutil
import struct
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from neurok.io import load
from neurok.rendering.camera import Camera, axes_toward
from neurok.rendering.lights import studio_lights
from neurok.rendering.renderer import Renderer

WIDTH, HEIGHT = 400, 330
BACKGROUND = (0.85, 0.86, 0.88)
SKY, BOUNCE = np.array([0.68, 0.71, 0.76]), np.array([0.45, 0.43, 0.41])
KEY, RIM = np.array([2.40, 2.30, 2.14]), np.array([0.55, 0.58, 0.62])
EXPOSURE = 1.04
"""As in shaders/object.frag.glsl."""

EMPTY = 4
"""Levels by which a pixel may differ from the background and still be called empty."""

ROWS = 128
"""Of the panorama."""

FILTERING = {"textureSize = 256": 64, "ggxSampleCount = 1024": 128, "lambertianSampleCount = 2048": 256,
             "lutResolution = 1024": 128}  # fmt: skip
"""How finely the panorama is filtered: less than usual, for a browser that draws in software; the studio is smooth."""

PATIENCE = 600_000
"""Milliseconds."""

FLAGS = ["--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PAGE = """<!doctype html><canvas id="c" width="{w}" height="{h}"></canvas><script type="module">
import {{ GltfView }} from "/gltf-viewer.module.js";
const canvas = document.getElementById("c");
const context = canvas.getContext("webgl2", {{ alpha: false, antialias: true, preserveDrawingBuffer: true }});
const view = new GltfView(context), state = view.createState();
const noKtx = async () => ({{ GL: {{ makeContextCurrent: () => 0, createContext: () => 0 }} }});
const loader = view.createResourceLoader(undefined, noKtx, "/libs/");
state.environment = await loader.loadEnvironment("/studio.hdr", {{ lut_sheen_E_file: "/sheen.png" }});
const how = state.renderingParameters;
how.renderEnvironmentMap = false; how.exposure = {exposure}; how.clearColor = {clear};
window.show = async (url, azimuth) => {{
  how.environmentRotation = -azimuth;
  state.gltf = await loader.loadGltf(url);
  state.sceneIndex = state.gltf.scene ?? 0;
  state.animationIndices = [];
  state.cameraIndex = state.gltf.cameras.length - 1;
  for (let k = 0; k < 3; k++) {{
    view.renderFrame(state, canvas.width, canvas.height);
    await new Promise(requestAnimationFrame);
  }}
  return canvas.toDataURL("image/png");
}};
window.ready = true;
</script>"""


def smoothstep(low: float, high: float, x: np.ndarray) -> np.ndarray:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def panels(toward: np.ndarray) -> np.ndarray:
    """What the panel of the key light and the strip of the fill light add to the surroundings, seen from azimuth 0."""
    lights = studio_lights(0.0, -np.ones(3), np.ones(3))
    panel = smoothstep(0.80, 0.93, toward @ lights.key_toward)
    return panel * 2.2 + smoothstep(0.70, 0.95, toward @ lights.fill_toward) * 0.7


def panorama() -> tuple[np.ndarray, np.ndarray]:
    """Radiance of the studio around the object for a camera at azimuth 0, and the directions of its pixels."""
    polar = (np.arange(ROWS) + 0.5) / ROWS * np.pi
    turn = ((np.arange(2 * ROWS) + 0.5) / (2 * ROWS) - 0.5) * 2.0 * np.pi
    polar, turn = np.meshgrid(polar, turn, indexing="ij")
    toward = np.stack([np.sin(polar) * np.cos(turn), np.cos(polar), np.sin(polar) * np.sin(turn)], axis=-1)
    up = smoothstep(-0.15, 0.15, toward[..., 1])[..., None]
    return BOUNCE + (0.9 * SKY - BOUNCE) * up + panels(toward)[..., None], toward


def key_left() -> np.ndarray:
    """Illuminance of the key light beyond that of its panel [of white at radiance 1]."""
    toward = panorama()[1]
    key = studio_lights(0.0, -np.ones(3), np.ones(3)).key_toward
    polar = np.arccos(toward[..., 1])
    solid = np.sin(polar) * (np.pi / ROWS) ** 2
    return np.pi * 0.45 * KEY - float((panels(toward) * np.maximum(toward @ key, 0.0) * solid).sum())


def hdr(radiance: np.ndarray) -> bytes:
    """A picture in Radiance's format, not packed."""
    exponent = np.ceil(np.log2(np.maximum(radiance.max(axis=-1), 1e-9))).astype(np.int64)
    mantissa = np.clip(radiance * 256.0 / np.exp2(exponent)[..., None], 0, 255)
    pixels = np.concatenate([mantissa, (exponent + 128)[..., None]], axis=-1).astype(np.uint8)
    head = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {radiance.shape[0]} +X {radiance.shape[1]}\n"
    return head.encode() + pixels.tobytes()


def staged(path: Path, renderer: Renderer, camera: Camera) -> bytes:
    """A GLB with our camera, and the lights that the panorama does not hold; its own lights are put out."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    tree: dict[str, Any] = json.loads(data[20 : 20 + length])
    rest = data[20 + length :]
    for node in tree["nodes"]:
        node.get("extensions", {}).pop("KHR_lights_punctual", None)
    view, size = renderer._viewpoint, renderer._scale
    lights = studio_lights(camera.azimuth, -np.ones(3), np.ones(3))
    place = {"matrix": _matrix(view.axes, view.eye * size + renderer._center), "camera": len(tree.get("cameras", []))}
    shape = {"aspectRatio": view.aspect, "yfov": np.radians(view.fov), "znear": 0.02 * size, "zfar": 60.0 * size}
    tree.setdefault("cameras", []).append({"type": "perspective", "perspective": shape})
    lamps = []
    added = [place]
    for toward, light in ((lights.key_toward, key_left()), (lights.rim_toward, np.pi * 0.5 * RIM)):
        bright = float(light.max())
        lamps.append({"type": "directional", "color": (light / bright).tolist(), "intensity": bright})
        lamp = {"KHR_lights_punctual": {"light": len(lamps) - 1}}
        added.append({"matrix": _matrix(axes_toward(toward), np.zeros(3)), "extensions": lamp})
    tree.setdefault("extensions", {})["KHR_lights_punctual"] = {"lights": lamps}
    tree["extensionsUsed"] = sorted({*tree.get("extensionsUsed", []), "KHR_lights_punctual"})
    scene = tree["scenes"][tree.get("scene", 0)]
    scene["nodes"] = [*scene["nodes"], *range(len(tree["nodes"]), len(tree["nodes"]) + len(added))]
    tree["nodes"] += added
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + rest


def _matrix(axes: np.ndarray, place: np.ndarray) -> list[float]:
    """A node's matrix, column by column, whose axes are the rows of ``axes``."""
    return [*axes[0], 0.0, *axes[1], 0.0, *axes[2], 0.0, *place, 1.0]


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        pass


def theirs(folder: Path, models: list[tuple[str, float]]) -> list[np.ndarray]:
    """Pictures of the models in a folder with a page, by the sample renderer."""
    from playwright.sync_api import sync_playwright

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chromium = os.environ.get("NEUROK_CHROMIUM") or shutil.which("chromium")
    out = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: print("viewer:", str(error)[:300], flush=True))
        page.on("console", lambda message: print("viewer:", message.text[:200], flush=True))
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        page.wait_for_function("window.ready === true")
        for name, azimuth in models:
            found = page.evaluate("([url, azimuth]) => window.show(url, azimuth)", [name, azimuth])
            out.append(np.asarray(Image.open(io.BytesIO(base64.b64decode(found.split(",")[1]))).convert("RGB")))
        browser.close()
    server.shutdown()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--viewer", type=Path, required=True, help="where npm has put @khronosgroup/gltf-viewer")
    arguments = parser.parse_args()
    ours, models = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(arguments.viewer / "node_modules/@khronosgroup/gltf-viewer/dist", folder, dirs_exist_ok=True)
        module = folder / "gltf-viewer.module.js"
        text = module.read_text()
        for usual, less in FILTERING.items():
            assert f"this.{usual};" in text
            text = text.replace(f"this.{usual};", f"this.{usual.partition('=')[0]}= {less};")
        module.write_text(text)
        (folder / "studio.hdr").write_bytes(hdr(panorama()[0]))
        Image.new("RGB", (8, 8)).save(folder / "sheen.png")
        clear = [*BACKGROUND, 1.0]
        page = PAGE.format(w=WIDTH, h=HEIGHT, exposure=EXPOSURE, clear=clear)
        (folder / "index.html").write_text(page)
        for number, file in enumerate(arguments.files):
            name, _, view = file.partition("@")
            camera = Camera.parse(view) if view else Camera()
            sizes = {"width": WIDTH, "height": HEIGHT, "camera": camera, "ground": False}
            with Renderer(load(name).mesh, **sizes, background=BACKGROUND) as renderer:  # type: ignore[arg-type]
                (folder / f"{number}.glb").write_bytes(staged(Path(name), renderer, camera))
                ours.append(renderer.render())
            models.append((f"/{number}.glb", camera.azimuth))
        others = theirs(folder, models)
    sheet = Image.new("RGB", (2 * 2 * WIDTH, -(-len(ours) // 2) * HEIGHT))
    for number, (mine, other) in enumerate(zip(ours, others, strict=True)):
        name = Path(arguments.files[number].partition("@")[0]).stem
        empty = np.array(clear[:3]) * 255
        seen = np.maximum(np.abs(other - empty), np.abs(mine - empty)).max(axis=-1) > EMPTY
        apart = np.abs(mine.astype(float) - other)[seen].mean()
        means = [picture[seen].mean(axis=0).round().astype(int).tolist() for picture in (mine, other)]
        print(f"{name}: {apart:.1f} of 255 apart, means {means[0]} and {means[1]}")
        for k, (picture, who) in enumerate(((mine, "neurok"), (other, "Khronos"))):
            image = Image.fromarray(picture)
            ImageDraw.Draw(image).text((8, 6), f"{name}: {who}", fill=(40, 40, 40))
            sheet.paste(image, ((2 * (number % 2) + k) * WIDTH, number // 2 * HEIGHT))
    sheet.save(arguments.sheet, quality=85)


if __name__ == "__main__":
    main()
