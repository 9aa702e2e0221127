"""Runs the Khronos glTF validator (npm ``gltf-validator``) on files we wrote."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = """
const fs = require('fs'), path = require('path');
const validator = require('gltf-validator');
const files = JSON.parse(fs.readFileSync(0, 'utf8'));
(async () => {
  const reports = [];
  for (const file of files) {
    const folder = path.dirname(file);
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
      uri: path.basename(file), maxIssues: 100,
      externalResourceFunction: async uri =>
        new Uint8Array(fs.readFileSync(path.join(folder, decodeURIComponent(uri)))),
    });
    reports.push(report);
  }
  console.log(JSON.stringify(reports));
})().catch(error => { console.error(String(error)); process.exit(1); });
"""


def validator_folder() -> Path:
    """Where the validator is installed, once per machine; without node and npm the test is skipped, and says so."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed: the Khronos glTF validator cannot run")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neurok-tests"
    if not (folder / "node_modules" / "gltf-validator" / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "gltf-validator"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            pytest.skip(f"the Khronos glTF validator cannot be installed: {done.stderr.strip()[-200:]}")
    return folder


def validate(paths: list[Path]) -> list[dict]:
    """The validator's report on each file, all in one process."""
    folder = validator_folder()
    environment = {**os.environ, "NODE_PATH": str(folder / "node_modules")}
    listed = json.dumps([str(Path(path).resolve()) for path in paths])
    done = subprocess.run(
        ["node", "-e", SCRIPT], input=listed, capture_output=True, text=True, env=environment, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def faults(paths: list[Path], worst: int = 0) -> dict[str, list[str]]:
    """Messages of each file down to a severity (0 errors, 1 warnings too); files without any are left out."""
    found = {}
    for path, report in zip(paths, validate(paths), strict=True):
        messages = [
            f"{m['code']} {m.get('pointer', '')}: {m['message']}"
            for m in report["issues"]["messages"]
            if m["severity"] <= worst
        ]
        if messages or report["issues"]["numErrors"]:
            found[str(path)] = messages
    return found
