"""``neurok batch`` killed twice with SIGKILL against a straight run, and its throughput; the tables of docs/batch.md.

python benchmarks/bench_batch.py kill --objects LIST.txt --out out/batch [--parts 5 --seconds 500] --write docs/batch.md
python benchmarks/bench_batch.py speed --objects LIST.txt --out out/batch --write docs/batch.md
python benchmarks/bench_batch.py scale --out out/scale --write docs/batch.md
python benchmarks/bench_batch.py list --data DATA --count 44 > LIST.txt     # training objects and furniture

With ``--parts`` the objects are dealt out to so many batches, each made once straight and once killed twice; what is
done is kept in ``--out``, and after ``--seconds`` no new part is begun.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from neurok_lab.evaluation.tables import put_section, stamp

UNTOLD = "times.jsonl"


def spread(data: Path, count: int) -> list[Path]:
    """Objects of both sets in turn, evenly over each."""
    sets = [
        sorted((data / "partnet_mobility" / "train").glob("*.npz")),
        sorted(path for path in (data / "furniture_glb").rglob("*") if path.suffix in (".glb", ".gltf")),
    ]
    total = sum(map(len, sets))
    if count >= total:
        return [path for paths in sets for path in paths]
    chosen = []
    for paths in sets:
        share = max(1, round(count * len(paths) / total))
        chosen += [paths[k * len(paths) // share] for k in range(share)]
    return chosen


def command(options: argparse.Namespace, out: Path, *words: str) -> list[str]:
    line = [sys.executable, "-m", "neurok", "batch", "articulate", str(options.objects), "--out", str(out), "--json"]
    return [*line, "--formats", *options.formats, *words]


def tree(folder: Path) -> dict[str, str]:
    """What lies in a folder, but for the times."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != UNTOLD
    }


def done(folder: Path) -> int:
    return len(list(folder.glob("assets/**/record.json")))


def kill_after(words: list[str], folder: Path, count: int) -> int:
    """Start a batch, kill it when so many objects are done, and tell how many were."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while process.poll() is None and done(folder) < count:
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return done(folder)


def kill(options: argparse.Namespace) -> str:
    """Every part of the objects in a straight run, and in one that is killed after a third and after two thirds."""
    objects, begun = options.objects.read_text().split(), time.monotonic()
    rows = []
    for part in range(options.parts):
        kept = options.out / f"part_{part}.json"
        if not kept.exists():
            if time.monotonic() - begun > options.seconds:
                continue
            row = killed_part(options, objects[part :: options.parts], options.out / f"part_{part}")
            kept.write_text(json.dumps(row))
            print(part, row, flush=True)
        rows.append(json.loads(kept.read_text()))
    total = {key: sum(row[key] for row in rows) for key in ("objects", "ok", "kills", "files", "differing", "seconds")}
    lines = ["| batches | objects | went well | kills | files | files that differ | seconds of the straight runs |"]
    lines.append("|---|---|---|---|---|---|---|")
    lines.append(
        f"| {len(rows)} | {total['objects']} of {len(objects)} | {total['ok']} | {total['kills']} | {total['files']} | "
        f"{total['differing']} | {total['seconds']:.0f} |"
    )
    return "\n".join(lines)


def killed_part(options: argparse.Namespace, objects: list[str], folder: Path) -> dict[str, float]:
    """One batch, straight and killed twice."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    part = argparse.Namespace(**{**vars(options), "objects": folder / "objects.txt"})
    part.objects.write_text("\n".join(objects))
    straight, killed = folder / "straight", folder / "killed"
    words = ["--workers", str(options.workers)]
    start = time.perf_counter()
    subprocess.run(command(part, straight, *words), check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    stops = [kill_after(command(part, killed, *words), killed, len(objects) * third // 3) for third in (1, 2)]
    subprocess.run(command(part, killed, *words), check=True, stdout=subprocess.DEVNULL)
    one, other = tree(straight), tree(killed)
    records = [json.loads(line) for line in (straight / "report.jsonl").read_text().splitlines()]
    row = {
        "objects": len(objects),
        "ok": sum(record["status"] == "ok" for record in records),
        "kills": sum(stop < len(objects) for stop in stops),
        "files": len(one),
        "differing": sum(one.get(name) != other.get(name) for name in one.keys() | other.keys()),
        "seconds": seconds,
    }
    if not row["differing"]:
        shutil.rmtree(killed)
    return row


def speed(options: argparse.Namespace) -> str:
    """The same objects with one and two workers, on this machine's processes and on a local Ray cluster."""
    total = len(options.objects.read_text().split())
    rows = ["| where | workers | objects | seconds | objects a minute | same bytes |", "|---|---|---|---|---|---|"]
    first = None
    for where, flags in (("processes", []), ("Ray", ["--ray", "local"])):
        for workers in (1, 2):
            out = options.out / f"{where.lower()}_{workers}"
            shutil.rmtree(out, ignore_errors=True)
            start = time.perf_counter()
            words = ["--workers", str(workers), *flags]
            subprocess.run(command(options, out, *words), check=True, stdout=subprocess.DEVNULL)
            seconds, found = time.perf_counter() - start, tree(out)
            first = first or found
            same = "yes" if found == first else "no"
            rows.append(f"| {where} | {workers} | {total} | {seconds:.0f} | {60 * total / seconds:.1f} | {same} |")
            print(rows[-1], flush=True)
    return "\n".join(rows)


def stub(job: Any) -> dict[str, Any]:
    """Work that takes no time; every hundredth object fails."""
    is_bad = int(job.source.key) % 100 == 7
    return {"status": "failed" if is_bad else "ok", "message": f"'{job.source.key}' is a stub." if is_bad else ""}


def scale(options: argparse.Namespace) -> str:
    """Lists of ten thousand objects and more with work that takes no time: what the batch itself costs per object."""
    lines = ["| objects | ms of computing per object | to go on when all is done | most memory [MB] | reasons told |"]
    lines.append("|---|---|---|---|---|")
    for count in options.rows:
        folder = options.out / f"rows_{count}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "list.txt").write_text("".join(f"{k}.obj\n" for k in range(count)))
        told = [json.loads(subprocess.check_output([sys.executable, __file__, "once", "--out", folder])) for _ in "ab"]
        first, again = (f"{1000 * one['seconds'] / count:.2f}" for one in told)
        lines.append(f"| {count:,} | {first} | {again} | {told[0]['memory'] / 1e6:.0f} | {told[0]['reasons']} |")
        print(lines[-1], flush=True)
        shutil.rmtree(folder)
    return "\n".join(lines)


def once(options: argparse.Namespace) -> None:
    """One of these batches, or one more pass over it."""
    import bench_batch  # by its name, so that other processes find the work

    from neurok.folders.run import run_batch
    from neurok.folders.store import BatchSettings

    start = time.process_time()
    found = run_batch(bench_batch.stub, options.out / "list.txt", options.out / "made", BatchSettings("stub"))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "memory": most, "reasons": len(found.reasons)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["list", "kill", "speed", "scale", "once"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--count", type=int, default=44)
    parser.add_argument("--objects", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--formats", nargs="+", default=[".urdf", ".glb"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no new part is begun")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--note", default="", help="a word about the machine, for the stamp")
    options = parser.parse_args()
    if options.what == "list":
        print("\n".join(map(str, spread(options.data, options.count))))
        return
    if options.what == "once":
        once(options)
        return
    table = {"kill": kill, "speed": speed, "scale": scale}[options.what](options)
    print(table)
    if options.write is not None:
        put_section(options.write, f"batch {options.what}", f"{table}\n\n{stamp()}{options.note}")


if __name__ == "__main__":
    main()
