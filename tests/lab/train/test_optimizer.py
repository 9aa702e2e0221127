import torch

from neurok_lab.train.loop import Muon, orthogonalise


def test_orthogonalised_matrices_have_singular_values_near_one():
    for shape in ((3, 16, 48), (2, 48, 16)):
        matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        values = torch.linalg.svdvals(orthogonalise(matrices))
        assert 0.5 < float(values.min()) <= float(values.max()) < 1.5


def test_muon_descends_a_quadratic():
    weight = torch.nn.Parameter(torch.randn(8, 8, generator=torch.Generator().manual_seed(1)))
    optimizer = Muon([weight], lr=0.04, weight_decay=0.0)
    first = float((weight**2).sum().detach())
    for _ in range(100):
        optimizer.zero_grad()
        (weight**2).sum().backward()
        optimizer.step()
    assert float((weight**2).sum().detach()) < 0.1 * first
