"""First values of networks, and none where a file fills them."""

import subprocess
import sys

import torch
from torch import nn

from neurok.learned.blocks import WithoutFirstValues, drawn


def test_first_values_have_the_spread_that_was_asked_for():
    torch.manual_seed(0)
    assert abs(float(drawn(100, 100, spread=0.02).detach().std()) - 0.02) < 1e-3


def test_nothing_is_drawn_inside():
    torch.manual_seed(0)
    state = torch.get_rng_state()
    with torch.device("meta"), WithoutFirstValues():
        nn.Sequential(nn.Linear(4, 5), nn.Embedding(6, 7), nn.LayerNorm(5))
        drawn(3, 4, spread=1.0)
    with WithoutFirstValues():
        layer = nn.Linear(4, 5)
    assert torch.equal(torch.get_rng_state(), state)
    assert layer.weight.shape == (5, 4)


def test_drawing_goes_on_as_usual_afterwards():
    with WithoutFirstValues():
        nn.Linear(4, 5)
    layer = nn.Linear(400, 5)
    assert 0.0 < float(layer.weight.abs().max()) <= 400**-0.5


def test_loading_weights_does_not_load_the_compiler_of_torch():
    code = "import sys, neurok.hub; neurok.hub.load_model('pieces', 'pieces'); print('torch._dynamo' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
