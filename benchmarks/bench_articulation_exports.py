"""Predicted joints, exported and driven: do MuJoCo, yourdfpy, USD and the Khronos validator take what is written?

    python benchmarks/bench_articulation_exports.py [--data FOLDER] [--count 50]

FOLDER holds PartNet-Mobility objects and defaults to ``partnet_mobility/train`` below NEUROK_DATA. The held-out ones
are stripped of their joints, saved as static scenes, given to ``neurok articulate`` and exported to every format; then
each joint is driven through its range in MuJoCo. The true joints of the same objects are driven beside them, and an
object of forty parts is timed. Writes ``benchmarks/results/articulation_exports.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import io as text
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from drive_joints import LOOSE, drive
from figures import RESULTS, stamp

from neurok import io
from neurok.cli.articulate import Articulate
from neurok.core import Articulation, Asset
from neurok.data.articulated import make_family
from neurok.evaluate.articulation import JointSource, find_joint_sources

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/io"))
FORMATS = (".xml", ".urdf", ".usd", ".glb")


@dataclass
class Tally:
    """What came of the objects of one row."""

    label: str
    objects: int = 0
    joints: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def take(self, check: str, name: str, problems: list[str]) -> None:
        self.passed[check] += not problems
        self.faults += [f"{name}: {check}: {problem}" for problem in problems]


def attempt(call: Any) -> list[str]:
    """What a call complains about, as one line."""
    try:
        found = call()
    except Exception as error:
        return [f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"]
    return list(found or [])


def usd_errors(path: Path) -> list[str]:
    from pxr import Usd, UsdValidation

    context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
    return [f"{error.GetName()}: {error.GetMessage()}" for error in context.Validate(Usd.Stage.Open(str(path)))]


def urdf_problems(path: Path, articulation: Articulation) -> list[str]:
    import yourdfpy

    robot = yourdfpy.URDF.load(str(path), load_collision_meshes=True)
    moving = {joint.name for joint in robot.robot.joints if joint.type != "fixed"}
    wanted = sum(joint.dof for joint in articulation.joints)
    problems = [] if len(moving) == wanted else [f"{len(moving)} joints instead of {wanted}"]
    return problems + [f"{fault}" for fault in robot.errors]


def check(tally: Tally, name: str, articulation: Articulation, files: dict[str, Path]) -> None:
    """All checks of one object but that of the GLB, which is cheaper for all at once."""
    tally.objects += 1
    tally.joints += articulation.dof
    tally.take("URDF parses in yourdfpy", name, attempt(lambda: urdf_problems(files[".urdf"], articulation)))
    tally.take("USD validates", name, attempt(lambda: usd_errors(files[".usd"])))
    for suffix, word in ((".xml", "MJCF"), (".urdf", "URDF")):
        try:
            driven = drive(files[suffix], articulation)
        except Exception as error:
            tally.take(f"{word} compiles in MuJoCo", name, [f"{type(error).__name__}: {error}"[:200]])
            continue
        tally.take(f"{word} compiles in MuJoCo", name, [])
        tally.take(f"{word} moves", name, list(driven.faults))
        if suffix == ".xml":
            tally.gaps += driven.gaps


def check_glbs(tally: Tally, paths: dict[str, Path]) -> None:
    from khronos import faults

    found = faults(list(paths.values()))
    for name, path in paths.items():
        tally.take("GLB has no errors", name, found.get(str(path), []))


def predicted(source: JointSource, folder: Path, method: str) -> tuple[Articulation, dict[str, Path], float]:
    """The joints that ``neurok articulate`` finds for the object without its own, and the files it wrote."""
    mesh = source.load().mesh
    given = folder / f"{source.name}.glb"
    io.save(Asset(mesh), given)
    files = {suffix: folder / f"{source.name}_out{suffix}" for suffix in FORMATS}
    with contextlib.redirect_stdout(text.StringIO()):
        seconds = processor_time(given, method)
        Articulate(str(given), tuple(files.values()), method=method, json=True).run()  # type: ignore[arg-type]
    found = io.load(files[".glb"]).articulation
    assert found is not None, "a GLB of ours keeps its joints"
    return found, files, seconds


def check_truth(tally: Tally, source: JointSource, folder: Path) -> None:
    """Only driven: a yardstick for how well true joints keep their parts together."""
    truth = source.load()
    path = folder / f"{source.name}_true.xml"
    io.save(truth, path)
    tally.objects += 1
    tally.joints += truth.dof
    driven = drive(path, truth)
    tally.take("MJCF moves", source.name, list(driven.faults))
    tally.gaps += driven.gaps


def forty_parts(folder: Path) -> tuple[int, float]:
    """Seconds for a generated keyboard of at least forty parts."""
    for seed in range(100):
        asset = make_family("keyboard", np.random.default_rng(seed))
        if 40 <= asset.mesh.part_count <= 48:
            break
    io.save(Asset(asset.mesh), folder / "keyboard.glb")
    return asset.mesh.part_count, processor_time(folder / "keyboard.glb")


def processor_time(path: Path, method: str = "auto") -> float:
    """Seconds of one core, which a busy machine does not change; reading the file is counted, writing is not."""
    start = time.process_time()
    Articulate(str(path), method=method, json=True).run()  # type: ignore[arg-type]
    return time.process_time() - start


def report(rows: list[Tally], forty: tuple[int, float]) -> str:
    checks = list(dict.fromkeys(key for row in rows for key in row.passed))
    lines = ["| check | " + " | ".join(row.label for row in rows) + " |", "|---|" + "---|" * len(rows)]
    lines.append("| objects, joint values | " + " | ".join(f"{r.objects}, {r.joints}" for r in rows) + " |")
    for key in checks:
        lines.append(
            f"| {key} | "
            + " | ".join(f"{r.passed[key]} of {r.objects}" if key in r.passed else "-" for r in rows)
            + " |"
        )
    within = [f"{sum(g <= LOOSE for g in r.gaps)} of {len(r.gaps)}" for r in rows]
    lines.append(f"| joints that keep their parent within {LOOSE:.0%} of the diagonal | " + " | ".join(within) + " |")
    lines += ["", "| processor time of `neurok articulate` on one core, exports not counted | seconds |", "|---|---|"]
    timed = [row for row in rows if row.seconds]
    for row in timed:
        lines.append(f"| {row.label}: median of {len(row.seconds)} objects | {statistics.median(row.seconds):.2f} |")
        lines.append(f"| {row.label}: slowest | {max(row.seconds):.2f} |")
    lines.append(
        f"| generated keyboard of {forty[0]} parts, median of {len(forty[1])} | {statistics.median(forty[1]):.2f} |"
    )
    lines += ["", stamp(), ""]
    for row in rows:
        lines += [f"Failures, {row.label}:", ""]
        lines += [f"- {fault}" for fault in row.faults] or ["- none"]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ["NEUROK_DATA"]) / "partnet_mobility/train" if "NEUROK_DATA" in os.environ else None
    parser.add_argument("--data", type=Path, default=default, required=default is None)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--method", choices=("auto", "learned", "search"), default="auto")
    parser.add_argument("--keep", type=Path, help="where to leave the files")
    arguments = parser.parse_args()
    ours, truth = Tally("predicted joints"), Tally("true joints")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        glbs: dict[str, Path] = {}
        for source in find_joint_sources(arguments.data, arguments.count):
            articulation, files, seconds = predicted(source, folder, arguments.method)
            ours.seconds.append(seconds)
            check(ours, source.name, articulation, files)
            glbs[source.name] = files[".glb"]
            check_truth(truth, source, folder)
            print(f"{source.name}: {len(ours.faults)} faults so far, {len(truth.faults)} of true joints", flush=True)
        check_glbs(ours, glbs)
        written = report([ours, truth], forty_parts(folder))
    (RESULTS / "articulation_exports.md").write_text(written)
    print(written)


if __name__ == "__main__":
    main()
