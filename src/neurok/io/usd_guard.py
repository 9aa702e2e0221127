"""What a USD file may refer to, checked layer by layer before the stage is composed."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

from neurok.errors import FormatError, shown
from neurok.io.files import Trial, read_bytes, rehearse, resolve_inside

MAX_LAYERS = 500
LAYER_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


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
        _rehearse(Path(here.split("[")[0]), "try_layer")
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
    _rehearse(path, "try_stage")


def _rehearse(path: Path, decoder: str) -> None:
    """Open a layer or stage in a process of its own first: damage can make USD hang, fill memory or crash."""
    trial = rehearse(path, f"{__name__}:{decoder}", "pxr.UsdUtils") if path.is_file() else Trial()
    if trial.damage:
        raise FormatError(f"'{path}' is damaged: {trial.damage}; write it again.")
    if trial.refusal is not None:
        why = f": {in_words(trial.refusal)}" if trial.refusal else ", or it is damaged; export it again"
        raise FormatError(f"'{path}' is not a USD file{why}.")


def try_layer(path: str) -> None:
    """Open one layer and leave it, in the sandbox."""
    from pxr import Sdf, UsdUtils

    if not Sdf.Layer.FindOrOpen(path):
        raise ValueError
    UsdUtils.ExtractExternalReferences(path)


def try_stage(path: str) -> None:
    """Compose a stage and look at every attribute, in the sandbox."""
    from pxr import Usd

    stage = Usd.Stage.Open(path)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        for attribute in prim.GetAttributes():
            attribute.Get()


def _check_inside(anchored: str, reference: str, folder: Path) -> None:
    """A reference must stay in the folder; inside a package it must stay in the package."""
    outer, _, inner = anchored.partition("[")
    if ".." in inner.split("/"):
        resolve_inside(folder, "../" + reference)
    target = Path(outer)
    if "://" in reference or not (folder / target).resolve().is_relative_to(folder):
        raise FormatError(
            f"The file refers to {shown(reference)}, which lies outside its folder; only files in or below it are read."
        )
    if outer.lower().endswith(LAYER_SUFFIXES) and not target.is_file():
        raise FormatError(f"The file refers to the layer {shown(reference)}, which is not in its folder; put it there.")


def reason(error: Exception) -> str:
    """What USD says, on one line and without the places in its own source; it may quote bytes that are no text."""
    try:
        return in_words(str(error))
    except UnicodeDecodeError:
        return "it holds bytes that are no text"


def in_words(said: str) -> str:
    """The last thing that USD says of an error, without the places in its own source."""
    return " ".join(said.split()).rsplit(" : '", 1)[-1].strip(" .'")[-160:]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep USD's own warnings from stderr; what matters of them is said by the reader."""
    from pxr import UsdUtils

    listener = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        with redirect_stderr(io.StringIO()), _nothing_on(2):  # Python's words about texts that are none, and C++'s own
            yield
    finally:
        del listener


@contextmanager
def _nothing_on(handle: int) -> Iterator[None]:
    """What C++ code writes to a file handle of the process goes nowhere."""
    try:
        kept = os.dup(handle)
    except OSError:  # it is closed
        yield
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, handle)
        yield
    finally:
        os.dup2(kept, handle)
        os.close(kept)
        os.close(nothing)
