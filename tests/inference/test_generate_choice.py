"""What is made of a prompt, and of a picture."""

import numpy as np
import pytest

from neurok.catalogue.asset import asset_of
from neurok.errors import DoubtfulPictureError, NeurokError
from neurok.generation.photo import photo_of
from neurok.generation.picture_reader import SIDE
from neurok.generation.pictures import CameraView, take_pictures
from neurok.generation.verb import READER, generate, understand
from neurok.hub import load_model
from neurok_lab.data.household import drawn

VIEW = CameraView(30.0, 20.0, 30.0, 0.07, 40.0, with_sky=False, with_ground=False)


@pytest.fixture(scope="module")
def hat():
    (picture,) = take_pictures(asset_of(drawn("hat", 0, 10_000)), [VIEW], SIDE)
    return photo_of(picture, load_model(READER, "pictures"))


def doubtful():
    pixels = np.random.default_rng(0).random((SIDE, SIDE, 4))
    pixels[..., 3] = 0.0
    pixels[60:130, 60:130, 3] = 1.0
    return photo_of(pixels, load_model(READER, "pictures"))


def test_a_picture_has_three_categories_and_makes_the_first(hat):
    (made,) = generate(image=hat)
    assert made.assembly.category == "hat"
    assert len(made.report()["seen"]) == 3
    assert next(iter(made.report()["seen"])) == "hat"
    assert made.bodies == 1


def test_a_doubtful_picture_asks_for_a_word_and_best_goes_on():
    photo = doubtful()
    category, share = photo.reading.likeliest[0]
    assert share < 0.5
    with pytest.raises(DoubtfulPictureError, match=f"{category} .*--text .*--best") as error:
        generate(image=photo)
    assert error.value.exit_code == 6
    assert generate(image=photo, best=True)[0].assembly.parts


def test_a_word_settles_what_a_picture_shows():
    (made,) = generate("a silver laptop", doubtful())
    assert made.assembly.category == "laptop"
    assert made.verdict.colours == (True,)


def test_a_thing_that_cannot_be_made_is_refused_with_what_can():
    with pytest.raises(NeurokError, match=r"'helicopter' is nothing that can be made\. It can make: bag, bed"):
        understand("a blue helicopter", None)
    assert understand("a comfy red thing", None).request.category == ""
