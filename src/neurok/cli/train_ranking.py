"""``neurok train ranking``: fit how the search for joints ranks its lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from neurok.cli.flags import JsonFlag, arg, need, several
from neurok.cli.report import progress, say
from neurok.errors import NeurokError


@dataclass
class TrainRanking:
    """Fit the weights of the search's evidence to annotated objects; held-out objects are never read."""

    data: Annotated[tyro.conf.Positional[tuple[str, ...]], several("DATASET")]
    """Folders of PartNet-Mobility objects and data sets made by 'neurok data build'."""

    out: Annotated[Path, arg("FILE.json")]
    """The JSON file to write; the shipped one is bodyplan/priors.json."""

    limit: int = 200
    """Maximum number of objects of each data set."""

    leave_out: Annotated[tuple[str, ...], arg("NAME [NAME ...]", "none")] = ()
    """Categories, generated families and objects not to train on."""

    json: JsonFlag = False

    def run(self) -> dict[str, Any]:
        import json as text

        from neurok.io.files import write_files
        from neurok.train.articulation_data import some_things
        from neurok.train.articulation_ranking import learn, to_table, top_share

        need(self.data, "data set")
        if self.out.suffix != ".json":
            raise NeurokError(f"The ranking is written as .json, not '{self.out.name}'.")
        things = [thing for folder in self.data for thing in some_things(folder, self.limit, self.leave_out)]
        if not things:
            raise NeurokError(f"There is nothing to learn from in {', '.join(self.data)}; name annotated objects.")
        found, real = learn(progress(things, "objects", total=len(things), json=self.json))
        write_files(self.out, {self.out.name: (text.dumps(to_table(found), indent=1) + "\n").encode()})
        share = top_share(found, real)
        say(
            f"{self.out}: {len(things)} objects; the best line is right for {share:.3f} of {len(real)} real parts",
            json=self.json,
        )
        return {"out": str(self.out), "objects": len(things), "parts": len(real), "right": share}
