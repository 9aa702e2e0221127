import torch

from neurok.learned.blocks import LayerNorm


def test_it_normalises_as_torch_does():
    x = torch.randn(5, 16, generator=torch.Generator().manual_seed(0)) * 3 + 1
    torch.testing.assert_close(LayerNorm(16)(x), torch.nn.LayerNorm(16)(x))


def test_the_second_derivative_along_a_line_agrees_with_finite_differences():
    generator = torch.Generator().manual_seed(0)
    x, v = torch.randn(2, 4, 8, generator=generator, dtype=torch.float64).unbind(0)
    norm = LayerNorm(8).double()
    curve = torch.func.jvp(lambda a: torch.func.jvp(norm, (a,), (v,))[1], (x,), (v,))[1]
    numeric = (norm(x + 1e-4 * v) - 2 * norm(x) + norm(x - 1e-4 * v)) / 1e-8
    torch.testing.assert_close(curve, numeric, atol=1e-5, rtol=1e-5)
