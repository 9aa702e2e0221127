"""CPU time and memory of GLB to GLB: neurok, trimesh, and a plain parse of the same file, each in a process of its own.

Run ``python benchmarks/bench_gltf_memory.py [FILE.glb ...]``: by default two files of ``NEUROK_DATA``. A sheet of
835,000 faces is made and measured beside them. Linux only, for its count of memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_gltf import sheet
from figures import write_table

from neurok.io import save

IMPORTS = {
    "neurok": "from neurok.io import load, save\nimport neurok.io.gltf_read, neurok.io.gltf_write",
    "trimesh": "import trimesh",
    "plain parse": "import json, struct",
}
WORK = {
    "neurok": "save(load(source), target)",
    "trimesh": "trimesh.load_scene(source).export(target)",
    "plain parse": (
        "data = open(source, 'rb').read()\nsize = struct.unpack_from('<I', data, 12)[0]\n"
        "content = json.loads(data[20 : 20 + size])\nopen(target, 'wb').write(data)"
    ),
}
MEASURE = """
import json, sys, time
source, target = sys.argv[1:]
{imports}
peak = lambda: int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1])
before = peak()
start, clock = time.process_time(), time.perf_counter()
{work}
after = peak()
seconds = time.process_time() - start
print(json.dumps([seconds, time.perf_counter() - clock, after / 1024, (after - before) / 1024]))
"""


def main() -> None:
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "sheet of 835k faces.glb"
        save(sheet(647, 647), large)
        data = Path(os.environ.get("NEUROK_DATA", "."))
        usual = [data / "khronos_glb" / f"{name}.glb" for name in ("BrainStem", "DamagedHelmet")]
        for source in [*(map(Path, sys.argv[1:]) if sys.argv[1:] else filter(Path.is_file, usual)), large]:
            for name, work in WORK.items():
                script = MEASURE.format(imports=IMPORTS[name], work=work)
                command = [sys.executable, "-c", script, str(source), str(Path(folder) / "out.glb")]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                figures = json.loads(done.stdout) if done.returncode == 0 else ["fails"] * 4
                rows.append([source.name, name, *figures])
    columns = ["file", "program", "CPU s", "wall s", "peak MB", "peak MB above imports"]
    write_table("gltf_memory", columns, rows)


if __name__ == "__main__":
    main()
