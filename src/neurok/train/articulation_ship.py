"""From a run of the joint model to weights with a card: averaged, calibrated, and told where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neurok.articulation.ensemble import Committee
from neurok.articulation.loss import JointTask
from neurok.articulation.network import JointConfig, JointModel
from neurok.data.splits import UNSEEN_CATEGORIES
from neurok.errors import NeurokError
from neurok.hub import save_model
from neurok.train.articulation import CHECKPOINT, LOG
from neurok.train.articulation_calibration import calibrate
from neurok.train.articulation_data import describe_data, watched_things
from neurok.train.checkpoint import load_checkpoint, read_facts
from neurok.train.curve import read_log

LIMITS = (
    "Parts must be given or found; parts found from connected pieces are often wrong, and confidence says so.",
    "Which way is up must be known, or the object must have flat sides to tell it by.",
    "Limits alone do not know which side opens, so they are best with the search.",
    "Cylindrical joints are not in the annotated data.",
)

HELD_OUT = (
    f"every fifth object of each sorted list, the categories {', '.join(UNSEEN_CATEGORIES)}, "
    "and the held-out generated families"
)


def is_joint_run(run: Path) -> bool:
    """Whether a folder holds a run of 'neurok train articulation'."""
    path = run / CHECKPOINT
    return path.exists() and "heads" in read_facts(path)["config"]["model"] and "points" in read_facts(path)["config"]


def ship_joints(
    runs: Sequence[Path], out: Path, folders: Sequence[str | Path] = (), note: str | None = None
) -> dict[str, Any]:
    """Write the averaged weights of runs that will answer together, calibrated, and their card; return the card.

    ``folders`` are the data sets they learned from and are calibrated on, where the first run has not noted them.
    """
    if out.suffix != ".safetensors":
        raise NeurokError(f"Weights are written to a .safetensors file, not to '{out}'.")
    committee = Committee(tuple(averaged_joints(run) for run in runs))
    origins = [read_facts(run / CHECKPOINT).get("origin") or {} for run in runs]
    origin, everything = origins[0], any(one.get("everything") for one in origins)
    if everything != all(one.get("everything") for one in origins):
        raise NeurokError(
            "Some of the runs have learned from held-out objects (--everything) and some have not; ship them apart."
        )
    things = watched_things(
        folders or origin.get("folders", ()), origin.get("teacher", "joints"), origin.get("limit"),
        origin.get("left_out", ()), everything,
    )  # fmt: skip
    data = origin.get("data") or [describe_data(folder) for folder in folders]
    calibrated = {"objects": len(things), **calibrate(committee, things)} if things else None
    card = {
        "what": "joints of segmented objects from geometry: kind, axis, hinge, limits and parent of every part",
        "data": data,
        "license": _license(data),
        "held_out": None if everything else HELD_OUT,
        "learned_from": sorted({name for one in origins for name in one.get("objects", ())}),
        "runs": [_described(run) for run in runs],
        "calibrated_on": calibrated,
        "limits": list(LIMITS),
        "parameters": sum(p.numel() for member in committee.members for p in member.parameters()),
    }
    if note is not None:
        card["note"] = note
    save_model(committee, out, card)
    return card


def _described(run: Path) -> dict[str, Any]:
    """What the card says of one run."""
    facts = read_facts(run / CHECKPOINT)
    origin = facts.get("origin") or {}
    log = read_log(run / LOG) if (run / LOG).exists() else []
    return {
        **{key: origin.get(key) for key in ("teacher", "started_from", "left_out", "examples", "commit")},
        "steps": facts["step"],
        "minutes": round(facts["seconds"] / 60, 1),
        "training": {key: value for key, value in facts["config"].items() if key != "model"},
        "watched": log[-1].get("watch", {}) if log else {},
    }


def averaged_joints(run: Path) -> JointModel:
    """The averaged model of a run."""
    config = JointConfig(**read_facts(run / CHECKPOINT)["config"]["model"])
    task, average = JointTask(config), JointTask(config)
    load_checkpoint(run / CHECKPOINT, {"task": task, "average": average}, [])
    return average.model.requires_grad_(False).eval()


def started_from(path: Path | None) -> dict[str, Any] | None:
    """What the card says of the weights a run began with."""
    if path is None:
        return None
    facts = read_facts(path)
    origin = facts.get("origin") or {}
    return {"steps": facts["step"], **{key: origin[key] for key in ("teacher", "data", "examples") if key in origin}}


def inherited(path: Path | None) -> dict[str, Any]:
    """Which annotated objects a checkpoint has learned from, and whether held-out ones were among them."""
    origin = (read_facts(path).get("origin") or {}) if path is not None else {}
    taught = origin.get("teacher") == "joints"
    return {
        "objects": set(origin.get("objects", ())) if taught else set(),
        "everything": bool(taught and origin.get("everything")),
    }


def _license(data: list[dict[str, Any]]) -> str:
    is_research = any("PartNet" in terms for one in data for terms in one["licenses"])
    return "weights trained partly on PartNet-Mobility: research use" if is_research else "Apache-2.0"
