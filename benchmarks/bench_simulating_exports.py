"""Sixty objects, exported and tried in simulators: does a ball stay in them, do they collide, do doors stop?

    python benchmarks/bench_simulating_exports.py --keep FOLDER [--data FOLDER] [--seconds S] [--write PAGE]

FOLDER of ``--data`` holds ``partnet_mobility`` and ``articulated_urdf`` and defaults to NEUROK_DATA; without it only
generated objects are tried. Rows are kept, so that a run goes on where it ended; after ``--seconds`` no new object is
begun. Joints are the true ones.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import other_simulators as others
from export_trials import run_trials
from figures import stamp

from neurok import io
from neurok.core import Asset
from neurok.geometry.convex import convex_hull, convex_pieces
from neurok.geometry.decomposition import DECOMPOSITION, FreeSpace
from neurok.io.physics import Physics, as_articulation, bodies
from neurok.sandbox import SANDBOX
from neurok_lab.worlds.articulated import generate

HOLLOW = 0.05
"""Parts are hollow where this share of their hull is free."""

FINE = replace(DECOMPOSITION, cells=72)
"""The grid on which hollows are measured: not the one on which shapes are made."""

INSIDE = ("bucket", "box", "chest_of_drawers", "trash_can", "pot", "suitcase")
"""Families, and words in names of real objects, in which a ball must stay."""

FAMILIES = {
    "box": 6, "bucket": 6, "chest_of_drawers": 4, "refrigerator": 4, "trash_can": 2, "pot": 2, "suitcase": 2, "door": 3,
    "cupboard": 3, "microwave": 2, "oven": 1, "washing_machine": 1, "laptop": 2, "table": 1, "window": 1, "safe": 1,
}  # fmt: skip
REAL = (
    "Bucket_100431", "Bucket_100464", "Bucket_100452", "Box_100141", "Box_100154", "Box_102379", "Refrigerator_10144",
    "Refrigerator_11231", "StorageFurniture_45213", "StorageFurniture_46166", "Table_20279", "Table_26387", "Door_8867",
    "Laptop_10040", "Microwave_7119", "TrashCan_11361",
)  # fmt: skip
URDFS = ("Scopia_door", "KatorLegaz_exterior-door-01", "KatorLegaz_window-08")

STILL = 0.02
"""Share of its range that a joint may drift at rest in a URDF."""

Row = dict[str, Any]
"""What came of one object."""


def sources(data: Path | None) -> dict[str, Callable[[], Asset]]:
    """Objects by name; the kinds take turns, so that a run that is cut short has some of each."""
    generated = [[(family, k) for k in range(count)] for family, count in FAMILIES.items()]
    turns = [one for k in range(8) for group in generated for one in group[k : k + 1]]
    out: dict[str, Callable[[], Asset]] = {f"{f}_{k}": lambda f=f, k=k: generate(f, 20, k)[0] for f, k in turns}  # type: ignore[misc]
    if data is None:
        return out
    real = {name: lambda name=name: io.load(data / f"partnet_mobility/train/{name}.npz") for name in REAL}  # type: ignore[misc]
    real |= {name: lambda name=name: io.load(data / f"articulated_urdf/{name}/{name}.urdf") for name in URDFS}  # type: ignore[misc]
    names = list(out)
    for k, (name, load) in enumerate(real.items()):
        names.insert(min(2 * k + 1, len(names)), name)
        out[name] = load
    return {name: out[name] for name in names}


def wants_inside(name: str) -> bool:
    return any(name.lower().startswith(word) for word in (*INSIDE, "trashcan"))


def hollow(asset: Asset) -> dict[str, float]:
    """Share of the free space in the hulls of hollow parts that shapes keep free: ours, and at most twelve hulls."""
    mesh = asset.mesh.in_frame("z", 1.0)
    free = kept = by_hulls = 0.0
    pieces = 0
    started = processor_seconds()
    parts = bodies(asset, Physics())
    seconds = processor_seconds() - started
    places = [joint.origin for joint in as_articulation(asset).in_frame("z", 1.0).joints]
    solids = [[solid.moved(place) for solid in part.solids] for part, place in zip(parts, places, strict=True)]
    for part, mine in enumerate(solids):
        pieces += len(mine)
        faces = mesh.faces[mesh.face_parts == part]
        if not len(faces) or not mine:
            continue
        points = mesh.vertices[np.unique(faces)]
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        whole = convex_hull(points, 1e-3 * size, 1000)
        if whole is None:
            continue
        room = FreeSpace(mesh.vertices, faces, size, 1e-3 * size, FINE)
        held, cell = room.inside(whole), room.grid[1]
        if len(held) * cell**3 < HOLLOW * float(np.ptp(points, axis=0).prod()):
            continue
        free += len(held) * cell**3
        kept += _left(room, held, [solid.piece for solid in mine])
        by_hulls += _left(room, held, convex_pieces(mesh.vertices, faces))
    return {"pieces": pieces, "seconds": seconds, "free": free,
            "kept": kept / free if free else 1.0, "hulls": by_hulls / free if free else 1.0}  # fmt: skip


def processor_seconds() -> float:
    """Spent so far by this process, and by the one in which CoACD works."""
    return time.process_time() + SANDBOX.spent


def _left(room: Any, held: np.ndarray, pieces: list[Any]) -> float:
    """Volume of some places that no piece holds."""
    taken = np.zeros(len(room.distance), dtype=bool)
    for piece in pieces:
        taken[room.inside(piece)] = True
    return float((~taken[held]).sum()) * room.grid[1] ** 3


def tried(name: str, asset: Asset, folder: Path) -> Row:
    """Everything about one object."""
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    row: Row = {"object": name, "inside": wants_inside(name), **hollow(asset)}
    io.save(asset, path / "object.xml", servo=True, scene=True)
    io.save(asset, path / "object_free.xml", free_base=True)
    io.save(asset, path / "object.urdf")
    io.save(asset, path / "object.usd")
    trials = run_trials(path / "object.xml", row["inside"])
    row["mujoco"] = asdict(trials)
    where = None if trials.place is None else np.array(trials.place)
    ball = (where, trials.radius, trials.start)
    row["urdf in MuJoCo"] = attempt(lambda: urdf_in_mujoco(path / "object.urdf"))
    for word, package, call in (("PyBullet", "pybullet", others.in_pybullet), ("Drake", "pydrake", others.in_drake)):
        row[word] = attempt(lambda call=call: call(path / "object.urdf", *ball)) if others.have(package) else None  # type: ignore[misc]
    row["USD"] = attempt(lambda: {"errors": others.usd_errors(path / "object.usd")})
    return row


def urdf_in_mujoco(path: Path) -> dict[str, Any]:
    """With contact and free joints for a second: calm, and nothing of it pushed away by its own shapes."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.gravity[:] = 0.0
    data = mujoco.MjData(model)
    for _ in range(round(1.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    span = np.where(model.jnt_limited == 1, np.ptp(model.jnt_range, axis=1), np.pi)
    moved = np.abs(data.qpos[model.jnt_qposadr]) / np.maximum(span, 1e-9) if model.njnt else np.zeros(1)
    return {"calm": not any(w.number for w in data.warning), "moved": float(moved.max(initial=0.0))}


def attempt(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return call()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"}


KINDS = {
    "buckets": ("bucket",),
    "boxes": ("box",),
    "drawers": ("chest", "storage", "table"),
    "fridges": ("refrig",),
    "these four": ("bucket", "box", "chest", "storage", "table", "refrig"),
    "all": ("",),
}
"""How names of objects begin, for the table of hollows."""


def table(rows: list[Row]) -> list[str]:
    """The rows as tables of the docs."""
    mujoco = [row["mujoco"] for row in rows]

    def counted(what: str, passed: list[bool]) -> str:
        return f"| {what} | {sum(passed)} of {len(passed)} |"

    def said(key: str, test: Callable[[Row], bool]) -> list[bool]:
        return [test(row[key]) for row in rows if row.get(key) is not None]

    def total(key: str) -> int:
        return sum(m[key] for m in mujoco)

    held = ("kept", "not tried")
    inside = [r["mujoco"]["ball"] == "inside" for r in rows if r["inside"]]
    on = [r["mujoco"]["ball"] == "on" for r in rows if not r["inside"]]
    met = [m["collide"] == "meet" for m in mujoco]
    missed = f"{total('blocked')} of the rest touch another part"
    return [
        "| trial | passed |",
        "|---|---|",
        counted("a ball dropped into buckets, boxes, open drawers, bins, pots stays inside", inside),
        counted("a ball dropped on the others stays on them", on),
        counted("a copy that falls on it meets it, no deeper than 2 % of its size", met),
        f"| joints at rest 3 s after a push | {total('at_rest')} of {total('joints')} |",
        f"| servos at their target after 2 s | {total('reached')} of {total('servos')} ({missed}) |",
        counted("nothing runs away in any trial", [m["calm"] for m in mujoco]),
        counted("URDF in MuJoCo with contact: joints stay at rest without gravity", said("urdf in MuJoCo", _stays)),
        counted("URDF in PyBullet: motors hold the joints", said("PyBullet", lambda r: r.get("off", 1.0) < 0.05)),
        counted("URDF in PyBullet: the ball stays", said("PyBullet", lambda r: r.get("ball") in held)),
        counted("URDF in Drake: a second, all finite", said("Drake", lambda r: r.get("finite", False))),
        counted("URDF in Drake: the ball does not fall through", [not _falls(row) for row in rows if row.get("Drake")]),
        counted("USD: no errors by Pixar's validators", said("USD", lambda r: not r.get("errors", ["x"]))),
        counted("USD in Newton: 50 steps of XPBD, all finite", said("Newton", lambda r: r.get("finite", False))),
        "",
        "| hollow kept by collision shapes | objects | median | least | at most twelve hulls | shapes | ms |",
        "|---|---|---|---|---|---|---|",
        *(_hollows(label, [r for r in rows if r["free"] > 0 and r["object"].lower().startswith(words)])
          for label, words in KINDS.items()),
        "",
        "Hulls, shapes and milliseconds of processor time are medians for a whole object.",
    ]  # fmt: skip


def _falls(row: Row) -> bool:
    """Whether the ball fell through the object in Drake, or was never dropped for a fault."""
    if "error" in row["Drake"]:
        return True
    place, height = row["mujoco"]["place"], row["Drake"]["height"]
    return place is not None and place[2] - height > others.FALL


def _stays(row: Row) -> bool:
    return bool(row.get("calm", False) and row["moved"] < STILL)


def _hollows(label: str, rows: list[Row]) -> str:
    if not rows:
        return f"| {label} | 0 | - | - | - | - | - |"
    middle = {key: statistics.median(row[key] for row in rows) for key in ("kept", "hulls", "pieces", "seconds")}
    least = min(row["kept"] for row in rows)
    return (
        f"| {label} | {len(rows)} | {middle['kept']:.1%} | {least:.1%} | {middle['hulls']:.1%} | "
        f"{middle['pieces']:.0f} | {1000 * middle['seconds']:.0f} |"
    )


def faults(rows: list[Row]) -> list[str]:
    """What went wrong, one line for each object."""
    out = []
    for row in rows:
        tried = row["mujoco"]
        told = [f"ball {tried['ball']}"] if tried["ball"] not in ("inside", "on") else []
        told += [f"copy: {tried['collide']}"] if tried["collide"] != "meet" else []
        told += tried["faults"][:2]
        if row.get("urdf in MuJoCo") and not _stays(row["urdf in MuJoCo"]):
            told.append(
                f"URDF in MuJoCo: a joint moves by {row['urdf in MuJoCo'].get('moved', float('nan')):.2f} of its range"
            )
        for key in ("urdf in MuJoCo", "PyBullet", "Drake", "USD", "Newton"):
            found = row.get(key) or {}
            told += [f"{key}: {found['error']}"] if "error" in found else []
            told += [f"{key}: the ball is lost"] if found.get("ball") == "lost" else []
            told += [f"{key}: {found['errors'][0]}"] if found.get("errors") else []
        told += ["Drake: the ball falls through"] if row.get("Drake") and _falls(row) else []
        if told:
            out.append(f"- {row['object']}: " + "; ".join(told))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ["NEUROK_DATA"]) if "NEUROK_DATA" in os.environ else None
    )
    parser.add_argument("--keep", type=Path, required=True, help="where files and rows stay")
    parser.add_argument("--write", type=Path, help="a page with the marks of this table")
    parser.add_argument("--only", nargs="+", help="names of some of the objects")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no new object is begun")
    parser.add_argument("--newton", action="store_true", help="also in Newton, which compiles for minutes once")
    parser.add_argument("--table-only", action="store_true", help="write what is there, try nothing more")
    arguments = parser.parse_args()
    rows = []
    begun = time.monotonic()
    for name, load in sources(arguments.data).items():
        stored = arguments.keep / f"{name}.json"
        if not stored.exists():
            late = time.monotonic() - begun > arguments.seconds
            if arguments.table_only or late or name not in (arguments.only or [name]):
                continue
            start = processor_seconds()
            row = tried(name, load(), arguments.keep)
            row["processor seconds"] = processor_seconds() - start
            stored.write_text(json.dumps(row, default=float))
            print(name, row["mujoco"]["ball"], row["mujoco"]["collide"], f"{row['kept']:.3f}",
                  f"{row['processor seconds']:.1f} s", flush=True)  # fmt: skip
        rows.append(json.loads(stored.read_text()))
    for row in rows if arguments.newton else []:
        if "Newton" not in row and time.monotonic() - begun < arguments.seconds:
            usd = arguments.keep / row["object"] / "object.usd"
            row["Newton"] = attempt(lambda usd=usd: others.in_newton(usd))  # type: ignore[misc]
            (arguments.keep / f"{row['object']}.json").write_text(json.dumps(row, default=float))
            print(row["object"], row["Newton"], flush=True)
    said = stamp().replace(str(arguments.keep), "FOLDER")
    end = [
        f"{len(rows)} of {len(sources(arguments.data))} objects. {said}",
        "",
        "What failed:",
        "",
        *(faults(rows) or ["- nothing"]),
    ]
    text = "\n".join([*table(rows), "", *end])
    print(text)
    if arguments.write is not None:
        begin, end = "<!-- simulating exports -->", "<!-- end of simulating exports -->"
        page = arguments.write.read_text()
        before, after = page.split(begin)[0], page.split(end)[1]
        arguments.write.write_text(f"{before}{begin}\n{text}\n{end}{after}")


if __name__ == "__main__":
    main()
