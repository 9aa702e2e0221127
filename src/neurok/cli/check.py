"""``neurok check``: what works on this machine, and how to get the rest."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from neurok.cli.flags import JsonFlag
from neurok.cli.report import say


@dataclass
class Check:
    """Test everything that depends on the machine: weights, simulation, pictures, videos, optional packages.

    Exit code 0 if everything that neurok needs works, 2 if not.
    """

    json: JsonFlag = False

    exit_code: int = field(default=0, init=False)

    def run(self) -> dict[str, Any]:
        from neurok.readiness import check_machine

        findings = check_machine()
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            mark = "works  " if finding.works else "BROKEN " if finding.is_needed else "missing"
            remedy = f"; {finding.remedy}" if finding.remedy else ""
            say(f"{mark}  {finding.name:{width}}  {finding.what}{remedy}", json=self.json)
        broken = [finding.name for finding in findings if finding.is_needed and not finding.works]
        self.exit_code = 2 if broken else 0
        say(f"Broken: {', '.join(broken)}." if broken else "Everything that neurok needs works.", json=self.json)
        return {"ready": not broken, "findings": [asdict(finding) for finding in findings]}
