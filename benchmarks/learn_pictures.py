"""Whether the image encoder can learn: categories and main colours of household things from pictures.

Run: python benchmarks/learn_pictures.py --store FOLDER --train PICTURES --test PICTURES [--real PICTURES]
FOLDER holds the things (neurok.data.household), PICTURES are stores of their pictures. One thread; the time is that of
the processor. The main colour is the basic colour of the part with the largest box, copies counted.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from neurok.data.household import read_households
from neurok.data.household_pictures import PictureSet
from neurok.data.picture_augmentation import augment, on_plain
from neurok.families.household import CATEGORIES, Assembly
from neurok.families.household.looks import basic, palette
from neurok.generation.image_encoder import ImageEncoder

WIDTH, BATCH, RATE, SEED = 160, 24, 1.5e-3, 0
BASICS = tuple(sorted({basic(colour) for colour in palette()}))


@dataclass(frozen=True)
class Pictures:
    """Pictures with their answers."""

    store: PictureSet
    rows: np.ndarray
    category: Tensor
    colour: Tensor


def main_colour(assembly: Assembly) -> str:
    sizes = [float(np.prod(part.size)) * part.repeat.total for part in assembly.parts]
    return basic(assembly.parts[int(np.argmax(sizes))].look.colour)


def labelled(folder: Path, colours: dict[str, str]) -> Pictures:
    """Pictures whose object is known; real ones have no colour (-1)."""
    store = PictureSet.open(folder)
    rows = [k for k, row in enumerate(store.rows) if row.index < 0 or row.name in colours]
    said = [colours.get(store.rows[k].name) for k in rows]
    return Pictures(
        store,
        np.array(rows),
        torch.tensor([CATEGORIES.index(store.rows[k].category) for k in rows]),
        torch.tensor([-1 if word is None else BASICS.index(word) for word in said]),
    )


class Classifier(nn.Module):
    """The encoder with the plainest reader: a learned question asked of all tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = ImageEncoder(WIDTH)
        self.questions = nn.Parameter(0.1 * torch.randn(2, WIDTH))
        self.category, self.colour = nn.Linear(WIDTH, len(CATEGORIES)), nn.Linear(WIDTH, len(BASICS))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        tokens = self.encoder(pictures)
        heard = (self.questions @ tokens.transpose(1, 2) / math.sqrt(WIDTH)).softmax(dim=2) @ tokens
        return self.category(heard[:, 0]), self.colour(heard[:, 1])


def accuracy(model: Classifier, data: Pictures, changed: bool) -> tuple[float, float]:
    """Share of right categories and of right colours."""
    model.eval()
    generator = torch.Generator().manual_seed(1)
    right = []
    with torch.no_grad():
        for start in range(0, len(data.rows), 64):
            part = slice(start, start + 64)
            raw = torch.from_numpy(data.store.batch(data.rows[part]))
            category, colour = model(augment(raw, generator) if changed else on_plain(raw))
            right.append(
                torch.stack([category.argmax(1) == data.category[part], colour.argmax(1) == data.colour[part]], 1)
            )
    model.train()
    found = torch.cat(right).float().mean(dim=0)
    return float(found[0]), float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("store", "train", "test", "real"):
        parser.add_argument(f"--{name}", type=Path, required=name != "real")
    parser.add_argument("--seconds", type=float, default=240.0, help="of training")
    parser.add_argument("--pictures", type=int, default=1500, help="to learn from")
    told = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    rng, generator = np.random.default_rng(SEED), torch.Generator().manual_seed(SEED)
    colours = {assembly.name: main_colour(assembly) for assembly in read_households(told.store)}
    train, test = labelled(told.train, colours), labelled(told.test, colours)
    pool = rng.permutation(len(train.rows))[: told.pictures]
    model = Classifier()
    size = sum(p.numel() for p in model.encoder.parameters())
    print(f"{len(pool)} pictures to learn from, {len(test.rows)} to test; encoder of {size} weights", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05)
    start, step, told_at = time.process_time(), 0, 0.0
    while (spent := time.process_time() - start) < told.seconds:
        warm = min(1.0, (step + 1) / 30)
        optimizer.param_groups[0]["lr"] = RATE * warm * (0.5 + 0.5 * math.cos(math.pi * spent / told.seconds))
        chosen = rng.choice(pool, BATCH)
        pictures = augment(torch.from_numpy(train.store.batch(train.rows[chosen])), generator)
        category, colour = model(pictures)
        loss = functional.cross_entropy(category, train.category[chosen])
        loss = loss + functional.cross_entropy(colour, train.colour[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if spent - told_at > told.seconds / 6:
            told_at = spent
            right = accuracy(model, test, changed=False)
            print(
                f"{spent:.0f} s, step {step}: loss {float(loss.detach()):.2f}, test {right[0]:.2f} {right[1]:.2f}",
                flush=True,
            )
    print(f"{step} steps in {told.seconds:.0f} s of one core")
    for name, data in (("test", test), ("real", labelled(told.real, {}) if told.real else None)):
        if data is not None:
            for changed in (False, True):
                category, colour = accuracy(model, data, changed)
                how = "augmented" if changed else "plain"
                also = f", main colour {colour:.3f}" if name == "test" else ""
                print(f"{name}, {how}: category {category:.3f}{also} ({len(data.rows)} pictures)", flush=True)


if __name__ == "__main__":
    main()
