"""Networks that write objects: shapes, order, holding, and whether they can learn at all."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.catalogue import generate
from neurok.generation.attachment import Attached
from neurok.generation.context import ContextConfig, Words, conditioning_of, words_of
from neurok.generation.fields import build_fields
from neurok.generation.flow import FlowConfig
from neurok.generation.lexicon import read
from neurok.generation.list_drawing import draw_lists
from neurok.generation.part_list import PartListConfig
from neurok.generation.request import request_of
from neurok.generation.writing import Generator, list_words, rows_of
from neurok_lab.train.generation import FlowTask, PartListTask
from neurok_lab.train.generation_data import example_of, lists_of, numbers_of, standard_of

SMALL = ContextConfig(width=32, heads=2, depth=1)
LIST = PartListConfig(context=SMALL, width=32, heads=2, depth=1)
FLOW = FlowConfig(context=SMALL, width=32, heads=2, depth=1, steps=4)


@pytest.fixture(scope="module")
def examples():
    objects = [generate(category, 5, 0)[0] for category in ("chair", "pillow", "cabinet")]
    spoken = words_of(["a chair", "a red pillow", "a cabinet with two doors"])
    return [example_of(one, [words]) for one, words in zip(objects, spoken, strict=True)]


@pytest.fixture
def generator():
    torch.manual_seed(0)
    return Generator.build(LIST, FLOW).requires_grad_(False)


@pytest.fixture
def loose(monkeypatch):
    """Parts stay where numbers put them: hundreds of copies of a network that has learned nothing take long to meet."""
    monkeypatch.setattr("neurok.generation.writing.attach", lambda assembly: Attached(assembly, 0.0, 1))
    monkeypatch.setattr("neurok.generation.writing.meeting", lambda assembly, config: (assembly, 0.0))


def test_lists_are_trees_with_one_root(generator):
    asked = conditioning_of(words_of(["a chair"] * 4))
    lists = draw_lists(generator.part_list, asked, torch.Generator().manual_seed(0), warmth=1.0)
    for number in range(4):
        _, parts = list_words(lists, number)
        assert parts[0]["parent"] == ""
        assert all(int(part["parent"]) < k for k, part in enumerate(parts) if k)
        assert all(part["count"] == "1" and not part["mirror"] for part in parts if part["hinge"])


def test_categories_and_looks_are_held_to_what_is_asked_for(generator):
    text = "a blue vase"
    asked, request = conditioning_of(words_of([text] * 6)), request_of(read(text))
    lists = draw_lists(generator.part_list, asked, torch.Generator().manual_seed(0), request, warmth=1.0)
    assert all(list_words(lists, k)[0]["category"] == "vase" for k in range(6))


def test_later_parts_do_not_change_what_was_known_before(generator, examples):
    lists = lists_of(examples[:1])
    asked = conditioning_of([examples[0].words[0]])
    full = generator.part_list(lists, asked)
    other = replace(lists, build=lists.build.clone())
    last = int(lists.count[0]) - 1
    other.build[0, last, 3] = (other.build[0, last, 3] + 1) % build_fields()[3].count
    changed = generator.part_list(other, asked)
    for name in ("name", "material"):
        torch.testing.assert_close(full[name][0, :last], changed[name][0, :last])


def test_words_that_are_not_there_do_not_count(generator, examples):
    lists, words = lists_of(examples[:1]), examples[0].words[0]
    alone = generator.part_list(lists, conditioning_of([words]))
    long = Words(np.zeros((20, 384)), np.ones((20, 4), dtype=np.int64), np.zeros((20, 6)))
    beside = generator.part_list(lists_of([examples[0]] * 2), conditioning_of([words, long]))
    torch.testing.assert_close(alone["material"][0], beside["material"][0], atol=1e-4, rtol=1e-4)


def test_the_same_seed_gives_the_same_object(generator, loose):
    asked = conditioning_of(words_of(["a pillow"]))

    def written():
        dice = torch.Generator().manual_seed(3)
        return generator.fill(draw_lists(generator.part_list, asked, dice), asked, dice)

    assert torch.equal(written().numbers, written().numbers)


def test_parts_that_are_kept_keep_their_numbers(generator, examples):
    standard = standard_of(examples)
    generator.flow.mean.copy_(torch.tensor(standard.mean))
    generator.flow.spread.copy_(torch.tensor(standard.spread))
    lists = rows_of(lists_of(examples[:1]), 0)
    rows, _ = numbers_of(examples[:1], standard)
    kept = torch.ones(1, rows.shape[1], dtype=torch.bool)
    kept[0, 1] = False
    asked = conditioning_of([None])
    _, used = generator.numbers(lists, list_words(lists, 0)[1])
    written = generator.flow.sample(lists, asked, used, torch.Generator().manual_seed(0), given=rows, is_kept=kept)
    torch.testing.assert_close(written[0, 0], rows[0, 0])
    assert not torch.equal(written[0, 1], rows[0, 1])


@pytest.mark.slow
def test_both_networks_can_learn_three_objects_by_heart(examples):
    torch.manual_seed(0)
    lists, asked = lists_of(examples), conditioning_of([one.words[0] for one in examples])
    task = PartListTask(PartListConfig(context=ContextConfig(64, 2, 1), width=64, heads=2, depth=2))
    optimizer = torch.optim.AdamW(task.parameters(), 2e-3)
    losses = []
    for _ in range(150):
        optimizer.zero_grad()
        terms = task(lists, asked)
        terms.loss.backward()
        optimizer.step()
        losses.append(float(terms.loss.detach()))
    assert losses[-1] < 0.05 * losses[0]
    drawn = draw_lists(task.model, asked, torch.Generator().manual_seed(0), warmth=0.1)
    assert torch.equal(drawn.build[1, :1], lists.build[1, :1])
    rows, used = numbers_of(examples, standard_of(examples))
    flow = FlowTask(FlowConfig(context=ContextConfig(64, 2, 1), width=64, heads=2, depth=2))
    optimizer = torch.optim.AdamW(flow.parameters(), 2e-3)
    generator, errors = torch.Generator().manual_seed(0), []
    for _ in range(200):
        noise, time = torch.randn(rows.shape, generator=generator), torch.rand(len(rows), generator=generator)
        optimizer.zero_grad()
        terms = flow(lists, asked, rows, used, noise, time)
        terms.loss.backward()
        optimizer.step()
        errors.append(float(terms.loss.detach()))
    assert np.mean(errors[-20:]) < 0.7 * np.mean(errors[:5])


def test_the_flow_goes_on_from_where_parts_were_put_together(generator, examples):
    lists = lists_of(examples[:1])
    used = torch.ones(*lists.build.shape[:2], generator.flow.mean.shape[1])
    goal = torch.full_like(used, 0.5)
    asked = conditioning_of([None])

    def together(time, rows):
        return goal - rows if 0.5 < time < 1.0 else None

    free = generator.flow.sample(lists, asked, used, torch.Generator().manual_seed(0))
    pulled = generator.flow.sample(lists, asked, used, torch.Generator().manual_seed(0), project=together)
    assert (pulled - goal).abs().mean() < 0.5 * (free - goal).abs().mean()
