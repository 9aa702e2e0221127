"""Predicted joints, exported and driven: do MuJoCo, yourdfpy, USD and the Khronos validator take what is written?

    python benchmarks/bench_articulation_exports.py [--data FOLDER] [--count 50]

FOLDER holds PartNet-Mobility objects and defaults to ``partnet_mobility/train`` below NEUROK_DATA. The held-out ones
are stripped of their joints, saved as static scenes, given to ``neurok articulate`` (with the weights that have not
learned from them) and exported to every format; then each joint is driven through its range in MuJoCo. An object of
forty parts is timed as well. Writes ``benchmarks/results/articulation_exports.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from drive_joints import LOOSE, drive
from figures import RESULTS, stamp

from neurok import io
from neurok.cli.articulate import Articulate
from neurok.core import Articulation, Asset
from neurok_lab.data.annotate import SelfMade
from neurok_lab.evaluation.articulation import JointSource, find_joint_sources
from neurok_lab.worlds.articulated import make_family

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/io"))
FORMATS = (".xml", ".urdf", ".usd", ".glb")

HELD_OUT = "articulation_held_out"
"""The shipped weights that have not learned from the objects measured here."""


Row = dict[str, Any]
"""What came of one object: the problems that each check found, gaps of its joints, seconds."""


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


def drive_file(path: Path, word: str, articulation: Articulation, row: Row) -> None:
    """Compile a robot file and drive its joints."""
    try:
        driven = drive(path, articulation)
    except Exception as error:
        row["checks"][f"{word} compiles in MuJoCo"] = [f"{type(error).__name__}: {error}"[:200]]
        return
    row["checks"][f"{word} compiles in MuJoCo"] = []
    row["checks"][f"{word} moves"] = list(driven.faults)
    row["gaps"] = list(driven.gaps)


def predicted_row(source: JointSource, folder: Path, method: str) -> Row:
    """The joints that ``neurok articulate`` finds for the object without its own, and what others say of its files."""
    given = folder / f"{source.name}.glb"
    io.save(Asset(source.load().mesh), given)
    files = {suffix: folder / f"{source.name}_out{suffix}" for suffix in FORMATS}
    seconds = processor_time(given, tuple(files.values()), method)
    found = io.load(files[".glb"]).articulation
    assert found is not None, "a GLB of ours keeps its joints"
    row: Row = {"object": source.name, "joints": found.dof, "seconds": seconds, "gaps": [], "checks": {}}
    drive_file(files[".xml"], "MJCF", found, row)
    gaps = row["gaps"]
    drive_file(files[".urdf"], "URDF", found, row)
    row["gaps"] = gaps
    row["checks"]["URDF parses in yourdfpy"] = attempt(lambda: urdf_problems(files[".urdf"], found))
    row["checks"]["USD validates"] = attempt(lambda: usd_errors(files[".usd"]))
    row["glb"] = str(files[".glb"])
    return row


def true_row(source: JointSource, folder: Path) -> Row:
    """Only driven: a yardstick for how well true joints keep their parts together."""
    truth = source.load()
    path = folder / f"{source.name}_true.xml"
    io.save(truth, path)
    row: Row = {"object": source.name, "joints": truth.dof, "seconds": None, "gaps": [], "checks": {}}
    drive_file(path, "MJCF", truth, row)
    return row


def processor_time(path: Path, out: tuple[Path, ...] = (), method: str = "auto") -> float:
    """Seconds of one core to find the joints, which a busy machine does not change; files are not counted."""
    with patch("neurok.cli.articulate.time.perf_counter", time.process_time):
        answer = Articulate(str(path), out, method=method, weights=Path(HELD_OUT), json=True).run()  # type: ignore[arg-type]
    return float(answer["seconds"])


def forty_parts(folder: Path) -> tuple[int, float]:
    """Seconds for a generated keyboard of at least forty parts."""
    for seed in range(100):
        asset = make_family("keyboard", np.random.default_rng(seed))
        if 40 <= asset.mesh.part_count <= 48:
            break
    io.save(Asset(asset.mesh), folder / "keyboard.glb")
    return asset.mesh.part_count, processor_time(folder / "keyboard.glb")


def check_glbs(rows: list[Row]) -> None:
    """All at once, because the validator takes long to start."""
    from khronos import faults

    found = faults([Path(row["glb"]) for row in rows])
    for row in rows:
        row["checks"]["GLB has no errors"] = found.get(row["glb"], [])


def report(groups: dict[str, list[Row]], forty: tuple[int, float], finder: str) -> str:
    rows = list(groups.values())
    checks = list(dict.fromkeys(key for group in rows for row in group for key in row["checks"]))
    lines = ["| check | " + " | ".join(groups) + " |", "|---|" + "---|" * len(groups)]
    counts = [f"{len(group)}, {sum(row['joints'] for row in group)}" for group in rows]
    lines.append("| objects, joint values | " + " | ".join(counts) + " |")
    for key in checks:
        passed = [[not row["checks"][key] for row in group if key in row["checks"]] for group in rows]
        lines.append(f"| {key} | " + " | ".join(f"{sum(p)} of {len(p)}" if p else "-" for p in passed) + " |")
    gaps = [[gap for row in group for gap in row["gaps"]] for group in rows]
    within = [f"{sum(g <= LOOSE for g in one)} of {len(one)}" for one in gaps]
    lines.append(f"| joints that keep their carrier within {LOOSE:.0%} of the diagonal | " + " | ".join(within) + " |")
    lines += ["", "| processor time of `neurok articulate` on one core, files not counted | seconds |", "|---|---|"]
    seconds = [row["seconds"] for row in rows[0]]
    lines.append(f"| median of {len(seconds)} objects | {statistics.median(seconds):.2f} |")
    lines.append(f"| slowest of them | {max(seconds):.2f} |")
    lines.append(f"| generated keyboard of {forty[0]} parts | {forty[1]:.2f} |")
    lines += ["", f"Joints by: {finder}. {stamp()}", ""]
    for label, group in groups.items():
        problems = [f"- {r['object']}: {key}: {p}" for r in group for key in r["checks"] for p in r["checks"][key]]
        lines += [f"Failures, {label}:", "", *(problems or ["- none"]), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ["NEUROK_DATA"]) / "partnet_mobility/train" if "NEUROK_DATA" in os.environ else None
    parser.add_argument("--data", type=Path, default=default, required=default is None)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--method", choices=("auto", "learned", "search"), default="auto")
    parser.add_argument("--truth", action="store_true", help="drive the true joints too, as a yardstick")
    parser.add_argument("--keep", type=Path, help="where to leave files and rows; run again, it goes on from there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        groups: dict[str, list[Row]] = {"predicted joints": []} | ({"true joints": []} if arguments.truth else {})
        finder = SelfMade.by(arguments.method, HELD_OUT).name
        for source in find_joint_sources(arguments.data, arguments.count):
            for label, rows in groups.items():
                stored = folder / f"{source.name}_{label.split()[0]}_{finder.replace(' ', '_')}.json"
                if not stored.exists():
                    is_true = label == "true joints"
                    row = true_row(source, folder) if is_true else predicted_row(source, folder, arguments.method)
                    stored.write_text(json.dumps(row))
                    print(f"{source.name}, {label}: {sum(map(len, row['checks'].values()))} problems", flush=True)
                rows.append(json.loads(stored.read_text()))
        check_glbs(groups["predicted joints"])
        written = report(groups, forty_parts(folder), finder)
    (RESULTS / "articulation_exports.md").write_text(written)
    print(written)


if __name__ == "__main__":
    main()
