"""Where the weights of a run come from: what it notes for their card."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from neurok.hub import find_weights, load_card
from neurok.train.checkpoint import is_checkpoint, read_facts


def commit() -> str:
    """The version of the code that runs, where it is under version control."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def started_from(checkpoint: Path | None, start_from: str | Path | None, task: str) -> dict[str, Any] | None:
    """What a run began with: as the checkpoint it goes on from has it, or the steps and data behind other weights."""
    if checkpoint is not None:
        return read_facts(checkpoint, task)["origin"].get("started_from")
    if start_from is None:
        return None
    path = find_weights(start_from, task)
    if is_checkpoint(path):
        facts = read_facts(path, task)
        known = {"steps": facts["step"], **facts["origin"]}
    else:
        known = {**load_card(path), "name": path.stem}
    return {key: known[key] for key in ("name", "sha256", "steps", "teacher", "data", "examples") if key in known}


def learned_before(earlier: str | Path | None, task: str) -> dict[str, Any]:
    """The annotated objects that weights have learned from, and whether held-out ones were among them."""
    if earlier is None:
        return {"objects": set(), "everything": False}
    path = find_weights(earlier, task)
    if not is_checkpoint(path):
        card = load_card(path)
        return {"objects": set(card.get("learned_from", ())), "everything": card.get("held_out") is None}
    origin = read_facts(path, task)["origin"]
    is_taught = origin.get("teacher", "joints") == "joints"
    objects = set(origin.get("objects", ())) if is_taught else set()
    return {"objects": objects, "everything": bool(is_taught and origin.get("everything"))}
