"""How many joints of single surfaces patches can express at best: every patch belongs to the true body that it shares
most area with, and the true joint moves the patches of its body. What the cosine of both velocity fields misses at 0.9
no grouping of these patches can find.

    python benchmarks/patch_ceiling.py --data PARTNET_MOBILITY [--every 6] [--most 40 64 120]
"""

from __future__ import annotations

import argparse

import numpy as np

from neurok.core import Articulation
from neurok.core.articulation import cosines, joint_fields
from neurok.evaluation.cases import boxed_articulation
from neurok.evaluation.motions import MATCH
from neurok.geometry.operators import face_areas
from neurok.geometry.patches import PATCHES, PatchConfig, cut_patches
from neurok.train.examples import find_things
from neurok.train.versions import single_surface, with_true_parts


def reachable(true: Articulation, config: PatchConfig) -> tuple[int, int]:
    """How many joints of an object that is one surface patches can express, and how many there are."""
    mesh, owners = single_surface(true.mesh)
    parts, areas = true.mesh.face_parts[owners], face_areas(mesh.vertices, mesh.faces)
    patches = cut_patches(mesh.vertices, mesh.faces, config)
    shared = np.zeros((int(patches.max()) + 1, true.mesh.part_count))
    np.add.at(shared, (patches, parts), areas)
    grouped = shared.argmax(axis=1)[patches]
    asked, found = (joint_fields(with_true_parts(mesh, some, true)) for some in (parts, grouped))
    there = np.einsum("afk,afk,f->a", asked, asked, areas) > 1e-12
    alike = np.diag(cosines(found, asked, areas))[there]
    return int((alike > MATCH).sum()), int(there.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of objects with true joints")
    parser.add_argument("--every", type=int, default=6, help="of so many training objects one is measured")
    parser.add_argument("--most", type=int, nargs="+", default=[PATCHES.most, 64, 120], help="patches at most")
    asked = parser.parse_args()
    objects = [boxed_articulation(Articulation(*thing.load())) for thing in find_things(asked.data)[:: asked.every]]
    for most in asked.most:
        price = PATCHES.price * PATCHES.most / most
        counts = np.array([reachable(true, PatchConfig(most=most, price=price)) for true in objects])
        found, joints = counts.sum(axis=0)
        print(f"at most {most} patches: {found} of {joints} joints of {len(objects)} objects", flush=True)


if __name__ == "__main__":
    main()
