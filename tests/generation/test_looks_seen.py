"""A known object in what a picture shows."""

import numpy as np
import torch

from neurok.catalogue.categories import generate
from neurok.generation.editing import OWN_PATTERNS
from neurok.generation.image_encoder import PictureReader, ReaderConfig, part_fields
from neurok.generation.silhouettes import with_appearance_seen


class Told(PictureReader):
    """Answers by heart."""

    def __init__(self, answers):
        super().__init__(ReaderConfig(width=16, heads=2))
        self.answers = answers

    def likeliest(self, picture, names, fields):
        return {field: dict.fromkeys(names, self.answers[field]) for field in fields}


def test_parts_take_their_colours_and_the_main_one_its_stuff():
    sofa = generate("sofa", 0, 1)[0]
    picture = torch.full((3, 112, 112), 0.5)
    picture[:, 30:80, 20:90] = torch.tensor([0.1, 0.2, 0.6])[:, None, None]
    seen = with_appearance_seen(
        sofa, Told({"colour": "blue", "cover": "leather", "material": "upholstery", "pattern": "plain"}), picture
    )
    assert {part.appearance.colour for part in seen.parts} == {"blue"}
    assert [part.name for part in seen.parts] == [part.name for part in sofa.parts]
    for part, old in zip(seen.parts, sofa.parts, strict=True):
        np.testing.assert_allclose(part.size, old.size)
    assert {part.appearance.pattern for part in seen.parts} <= {"plain", *OWN_PATTERNS}
    assert "leather" in {part.appearance.visible_material for part in seen.parts}


def test_every_field_has_words():
    torch.manual_seed(0)
    reader = PictureReader(ReaderConfig(width=16, heads=2)).eval()
    picture = torch.rand(3, 112, 112)
    for field in part_fields():
        assert reader.likeliest(picture, ["leg"], [field.name])[field.name]["leg"] in field.words
    scores = reader.categories(picture)
    assert abs(sum(np.exp(list(scores.values()))) - 1.0) < 1e-5
