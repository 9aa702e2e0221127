"""What a USD file may refer to, checked layer by layer before the stage is composed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from neurok.errors import FormatError, shown
from neurok.io.files import read_bytes, resolve_inside

MAX_LAYERS = 500
LAYER_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
BINARY = (b"PXR-USDC", b"PK\x03\x04")
PROBE = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
except (ImportError, ValueError, OSError):
    pass
from pxr import Sdf, Usd, UsdUtils
if not Sdf.Layer.FindOrOpen(sys.argv[1]):
    sys.exit(3)
UsdUtils.ExtractExternalReferences(sys.argv[1])
stage = Usd.Stage.Open(sys.argv[1])
for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
    for attribute in prim.GetAttributes():
        attribute.Get()
"""


def check_layers(path: Path) -> None:
    """Refuse layers and pictures outside the folder of ``path``, and files that are no layers at all."""
    from pxr import Sdf, Tf, UsdUtils

    folder = path.parent.resolve()
    read_bytes(path)
    waiting, seen = [str(path)], set()
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        if len(seen) > MAX_LAYERS:
            raise FormatError(f"'{path}' is made of more than {MAX_LAYERS} layers.")
        _probe_binary(Path(here.split("[")[0]))
        try:
            layer = Sdf.Layer.FindOrOpen(here)
        except Tf.ErrorException as error:
            raise FormatError(f"'{here}' is not a USD file: {reason(error)}.") from error
        if layer is None:
            if here == str(path):
                raise FormatError(f"'{path}' is not a USD file, or it is damaged; export it again.")
            raise FormatError(f"'{path}' refers to the layer '{here}', which cannot be read.")
        for group in UsdUtils.ExtractExternalReferences(here):
            for reference in group:
                anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, reference)
                if not Path(anchored).is_absolute():  # USD would look for it in the working folder
                    anchored = str(folder / anchored)
                _check_inside(anchored, reference, folder)
                if anchored.split("[")[-1].rstrip("]").lower().endswith(LAYER_SUFFIXES):
                    waiting.append(anchored)


def _probe_binary(path: Path) -> None:
    """Open a binary file in a process of its own first: damage can make USD's decoder hang, fill memory or crash."""
    if not path.is_file() or not sys.executable:
        return
    data = read_bytes(path)
    if not data.startswith(BINARY):
        return
    memory = 4 * 1024**3 + 16 * len(data)
    command = [sys.executable, "-P", "-c", PROBE, str(path), str(memory)]
    try:
        code = subprocess.run(command, capture_output=True, timeout=20 + len(data) / 5e6, check=False).returncode
    except subprocess.TimeoutExpired:
        code = -1
    if code != 0:
        raise FormatError(f"'{path}' is damaged: USD cannot open it; write it again, or give the .usda form.")


def _check_inside(anchored: str, reference: str, folder: Path) -> None:
    """A reference must stay in the folder; inside a package it must stay in the package."""
    outer, _, inner = anchored.partition("[")
    if ".." in inner.split("/"):
        resolve_inside(folder, "../" + reference)
    target = Path(outer)
    if "://" in reference or not (folder / target).resolve().is_relative_to(folder):
        raise FormatError(
            f"The file refers to '{reference}', which lies outside its folder; only files in or below it are read."
        )
    if outer.lower().endswith(LAYER_SUFFIXES) and not target.is_file():
        raise FormatError(f"The file refers to the layer {shown(reference)}, which is not in its folder; put it there.")


def reason(error: Exception) -> str:
    """What USD says, on one line and without the places in its own source; it may quote bytes that are no text."""
    try:
        said = " ".join(str(error).split())
        return said.rsplit(" : '", 1)[-1].strip(" .'")[-160:]
    except UnicodeDecodeError:
        return "it holds bytes that are no text"
