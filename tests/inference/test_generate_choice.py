"""Which of several lists is filled."""

from dataclasses import replace

import pytest

from neurok.errors import NeurokError
from neurok.generation.verb import agreement, understand
from neurok_lab.data.household import drawn


def test_the_list_that_shares_most_with_the_others_agrees_most():
    chair, other = drawn("chair", 0, 1), drawn("fridge", 0, 1)
    shorter = replace(chair, parts=chair.parts[:-1])
    found = agreement([chair, other, shorter, chair])
    assert found[0] == found[3] == max(found)
    assert found[1] == min(found)


def test_lists_that_are_all_alike_agree_wholly():
    vase = drawn("vase", 0, 2)
    assert agreement([vase, vase]) == pytest.approx([1.0, 1.0])


def test_a_thing_that_cannot_be_made_is_refused_with_what_can():
    with pytest.raises(NeurokError, match=r"'helicopter' is nothing that can be made\. It can make: bag, bed"):
        understand("a blue helicopter", None)
    assert understand("a comfy red thing", None).request.category == ""
