"""``neurok data info``: what a data set holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, arg
from neurok.cli.report import say


@dataclass
class DataInfo:
    """Report the contents of a data set: families, joints, licences, and whether every checksum matches."""

    folder: Annotated[tyro.conf.Positional[str], arg("DATASET")]
    """Folder or fsspec URL of the data set."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        from neurok.data.shards import ShardSet

        data = ShardSet.open(self.folder)
        licenses: Counter[str] = Counter()
        joints: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for number in range(len(data.manifest["shards"])):
            for item in data.shard(number, verify=True):
                licenses.update([item.info["license"]])
                joints.update(item.info["joints"])
                kinds.update([item.info["kind"]])
        manifest = data.manifest
        say(f"{len(data)} items in {len(manifest['shards'])} shards, {manifest['bytes'] / 1e6:.1f} MB", json=self.json)
        say(f"recipe {manifest['recipe']}, seed {manifest['seed']}; every checksum fits", json=self.json)
        tables = {"kinds": kinds, "joints": joints, "licences": licenses, "families": manifest["tally"]}
        for title, table in tables.items():
            say(f"{title}: " + ", ".join(f"{name} {count}" for name, count in table.items()), json=self.json)
        for reason, count in manifest["rejected"].items():
            say(f"turned away: {count} x {reason}", json=self.json)
        return {
            "items": len(data),
            "shards": len(manifest["shards"]),
            "bytes": manifest["bytes"],
            "recipe": manifest["recipe"],
            "seed": manifest["seed"],
            "kinds": dict(kinds),
            "joints": dict(joints),
            "licenses": dict(licenses),
            "tally": manifest["tally"],
            "rejected": manifest["rejected"],
            "verified": True,
        }
