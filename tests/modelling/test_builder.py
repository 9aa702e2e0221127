"""The builder: parts, joints and surfaces survive being turned and moved."""

import numpy as np

from neurok.modelling import surfaces
from neurok.modelling.builder import Builder
from neurok.modelling.shapes import box


def hinged_boxes() -> Builder:
    builder = Builder("thing")
    body = builder.part("body").add(box((1, 1, 1)), surfaces.wood("oak"))
    lid = builder.part("lid", body, "revolute", (1, 0, 0), (0, 0.5, -0.5), -1.5, 0.0)
    lid.add([box((1, 0.1, 1), (0, 0.55, 0)), box((0.1, 0.1, 0.1), (0, 0.65, 0.4))], surfaces.metal("brass"))
    builder.part("lid", lid, "continuous", (0, 1, 0)).add(box((0.2, 0.2, 0.2), (0, 0.7, 0)), surfaces.wood("oak"))
    return builder


def test_parts_surfaces_and_limits_arrive_in_the_articulation():
    thing = hinged_boxes().build().articulation
    assert thing.part_names == ("body", "lid", "lid_2")
    assert [joint.parent for joint in thing.joints] == [-1, 0, 1]
    assert thing.mesh.face_count == 4 * 12
    assert [surface.name for surface in thing.mesh.surfaces] == ["oak", "brass"]
    np.testing.assert_array_equal(thing.limits, [[-1.5, 0.0], [-np.inf, np.inf]])


def test_turning_and_moving_commute_with_posing():
    q = np.array([-0.7, 0.4])
    plain, turned = hinged_boxes(), hinged_boxes().turned("y", 90).moved(1.0, 2.0, 3.0)
    expected = plain.build().articulation.pose(q).vertices[:, [2, 1, 0]] * (1, 1, -1) + (1.0, 2.0, 3.0)
    np.testing.assert_allclose(turned.build().articulation.pose(q).vertices, expected, atol=1e-12)
