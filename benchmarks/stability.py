"""Forty objects under five actions, as they are and all of foam: does anything diverge, sink in, or never rest?

    python benchmarks/stability.py --data DATA --rows rows.jsonl [--part 0/2] [--only NAME/drop] [--write docs/soft.md]

Rows go to a file as they are measured, so that a stopped run goes on; several processes may share the work by --part.
A fifth of the objects, chosen by a checksum of their names, is marked as kept aside: nothing was tuned on it.
"""

from __future__ import annotations

import json
import signal
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from neurok.catalogue.samples import SAMPLES
from neurok.errors import NeurokError
from neurok.kinematics.space import KinematicSpace
from neurok.scene.description import Scene, SceneObject
from neurok.scene.run import prepare_scene, run_ready
from neurok_lab.evaluation.tables import markdown, put_section

ACTIONS = ("drop", "throw", "tilt", "drag", "wind")
SETS = {
    "household/sweethome3d": 18,
    "furniture_glb": 12,
    "animated_glb": 6,
}
SOFT = "upholstery"
"""The second stiffness: everything made of it."""

REST = 0.02
"""Mean speed below which an object rests [sizes per second]."""

WAYS = ("slides", "turns", "swings")
"""Why something does not rest."""

PATIENCE = 60
"""Longest time for one run [CPU s]; body plans of trees with hundreds of leaves take longer."""

DEEP = 0.005
"""Depth that must not be exceeded [sizes]."""


@dataclass
class Stability:
    """Run all objects under all actions."""

    data: Path
    """Folder of data sets."""

    rows: Path
    """Where each run is written when it is done."""

    part: str = "0/1"
    """Which share of the runs this process takes, such as 0/2."""

    only: tuple[str, ...] = ()
    """Some of the runs, as OBJECT, OBJECT/ACTION or OBJECT/ACTION/STUFF; all by default."""

    again: bool = False
    """Take these although the file has them; their older rows are replaced."""

    seconds: float = 2.0
    write: Path | None = None
    """Markdown file to put the table into."""

    def run(self) -> None:
        done = set() if self.again else {_key(row) for row in self._known()}
        index, count = map(int, self.part.split("/"))
        cases = [(stuff, *thing) for stuff in (SOFT, "as found") for thing in objects(self.data)]
        for stuff, name, path, aside in cases[index::count] if self.write is None else []:
            spaces: dict[int, KinematicSpace] = {}  # what an object can do is found once
            for action in ACTIONS:
                if self._wanted(name, action, stuff) and (name, action, stuff) not in done:
                    row = measured(path, action, stuff, self.seconds, spaces)
                    row = {"object": name, "aside": aside, "action": action, "stuff": stuff, **row}
                    kept = [old for old in self._known() if _key(old) != _key(row)]
                    self.rows.write_text("".join(json.dumps(one) + "\n" for one in [*kept, row]))
                    print(json.dumps(row), flush=True)
        if self.write is not None:
            put_section(self.write, "stability", tables(self._known()))

    def _wanted(self, *run: str) -> bool:
        return not self.only or any(run[: one.count("/") + 1] == tuple(one.split("/")) for one in self.only)

    def _known(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.rows.read_text().splitlines()] if self.rows.exists() else []


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["object"], row["action"], row["stuff"]


def objects(data: Path) -> Iterator[tuple[str, str, bool]]:
    """Name, path and whether it is kept aside."""
    for name in SAMPLES:
        yield f"sample:{name}", f"sample:{name}", False
    for folder, count in SETS.items():
        files = sorted((data / folder).rglob("*.glb"), key=lambda path: zlib.crc32(path.name.encode()))
        for path in files[:count]:
            yield path.stem, str(path), zlib.crc32(path.name[::-1].encode()) % 5 == 0


def measured(path: str, action: str, stuff: str, seconds: float, spaces: dict[int, KinematicSpace]) -> dict[str, Any]:
    """One run: how it ended, how deep things sank, whether it rests; ``spaces`` remembers its poses for the next."""
    materials = {} if stuff == "as found" else {"all": stuff}
    space = "auto" if stuff == "as found" else "elastic"
    begin = time.process_time()
    try:
        signal.signal(signal.SIGPROF, _too_long)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        thing = SceneObject(path, act=action, materials=materials, space=space)  # type: ignore[arg-type]
        ready = prepare_scene(Scene((thing,), seconds=seconds), spaces=spaces)
        if not ready.scene.objects[0].pins:
            spaces[0] = ready.bodies[0].poses
        setup = time.process_time() - begin
        run = run_ready(ready)
    except NeurokError as error:
        return {"status": "refused", "why": str(error)}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    rollout, mesh = run.rollout, ready.bodies[0].mesh
    report = rollout.report
    speeds = np.linalg.norm(np.diff(rollout.positions[-4:], axis=0), axis=2).mean(axis=1) / rollout.dt / mesh.size
    edges = mesh.vertices[mesh.faces] - np.roll(mesh.vertices[mesh.faces], 1, axis=1)
    last = rollout.positions[-1][mesh.faces]
    lengths = np.linalg.norm(edges, axis=2)
    stretch = np.linalg.norm(last - np.roll(last, 1, axis=1), axis=2) / np.maximum(lengths, 1e-3 * mesh.size)
    return {
        "status": rollout.status,
        "why": rollout.message,
        "engine": report.get("engine"),
        "dof": report["dof"],
        "depth": (report["max_penetration"] or 0.0) / mesh.size,
        "speed": float(speeds.mean()),
        "way": way(rollout.positions[-4], rollout.positions[-1]),
        "stretch": float(np.quantile(stretch, 0.99)),
        "setup": setup,
        "factor": report["real_time_factor"],
        "seconds": time.process_time() - begin,
    }


def way(before: np.ndarray, after: np.ndarray) -> str:
    """What most of a motion is: it slides as a whole, turns (rolls, rocks or tumbles), or bends and swings."""
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    left, _, right = np.linalg.svd(a.T @ b)
    turn = right.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))]) @ left.T
    turned = a @ turn.T
    shares = {
        "slides": np.linalg.norm(after.mean(axis=0) - before.mean(axis=0)),
        "turns": np.linalg.norm(turned - a, axis=1).mean(),
        "swings": np.linalg.norm(b - turned, axis=1).mean(),
    }
    return max(shares, key=lambda name: shares[name])


def _too_long(number: int, frame: object) -> None:
    raise NeurokError(f"given up after {PATIENCE} CPU s")


def tables(rows: list[dict[str, Any]]) -> str:
    """A row for each action and stiffness, then what went wrong."""
    out = []
    for action in ACTIONS:
        for stuff in ("as found", SOFT):
            mine = [row for row in rows if (row["action"], row["stuff"]) == (action, stuff)]
            ran = [row for row in mine if row["status"] != "refused"]
            if ran:
                out.append(
                    {
                        "action": action,
                        "made of": stuff,
                        "runs": len(mine),
                        "refused": len(mine) - len(ran),
                        "diverged": sum(row["status"] == "diverged" for row in ran),
                        "deeper than 0.5 %": sum(row["depth"] > DEEP for row in ran),
                        "deepest [%]": 100 * max(row["depth"] for row in ran),
                        "at rest": sum(row["speed"] < REST for row in ran),
                        **{name: sum(row["speed"] >= REST and row["way"] == name for row in ran) for name in WAYS},
                        "median x real time": float(np.median([row["factor"] for row in ran])),
                    }
                )
    bad = [
        {
            "object": row["object"],
            "action": row["action"],
            "made of": row["stuff"],
            "what": row["why"] or f"depth {100 * row['depth']:.2f} %",
        }
        for row in rows
        if row["status"] in ("diverged", "refused") or row.get("depth", 0.0) > DEEP
    ]
    text = _table(out)
    return text + ("\n\n" + _table(bad) if bad else "")


def _table(rows: list[dict[str, Any]]) -> str:
    return markdown(
        rows, {key: (key, "{:.3g}" if isinstance(value, float) else "{}") for key, value in rows[0].items()}
    )


if __name__ == "__main__":
    tyro.cli(Stability).run()
