"""What is left of an object that is seen from outside alone."""

import numpy as np

from neurok.core import Articulation, Joint, Mesh
from neurok.modelling.shapes import box
from neurok_lab.train.versions import outer_shell


def test_what_a_closed_box_holds_is_not_of_its_shell():
    outer, inner = box((1.0, 1.0, 1.0)), box((0.4, 0.4, 0.4))
    vertices = np.concatenate([outer.vertices, inner.vertices])
    faces = np.concatenate([outer.faces, inner.faces + len(outer.vertices)])
    parts = np.repeat([0, 1], [len(outer.vertices), len(inner.vertices)])
    mesh = Mesh(vertices, faces, up="y", part_ids=parts, part_names=("box", "ball"))
    closed = Articulation(mesh, (Joint(), Joint("prismatic", 0, (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))))
    shell = outer_shell(closed)
    assert shell.mesh.face_count == len(outer.faces)
    assert set(shell.mesh.face_parts.tolist()) == {0}

    lid = (mesh.vertices[mesh.faces][:, :, 1] > 0.49).all(axis=1)
    opened = outer_shell(
        Articulation(Mesh(vertices, faces[~lid], up="y", part_ids=parts, part_names=mesh.part_names), closed.joints)
    )
    assert {0, 1} == set(opened.mesh.face_parts.tolist())
    assert opened.mesh.face_count > len(outer.faces) - lid.sum()
