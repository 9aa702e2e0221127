"""Problems with known answers for the particle solver.

``bench_particles.py --answers`` prints them; the tests run small ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neurok.dynamics.particles import Law, ParticleSet, Plane, SheetSet, Solver, SolverConfig, Surroundings

GRAVITY = 9.81
NOTHING = Surroundings(gravity=(0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Answer:
    """One measured number beside the known one."""

    problem: str
    size: str
    measured: float
    known: float
    unit: str
    source: str
    bound: str
    """What is asked for."""

    @property
    def off(self) -> float:
        """Relative error."""
        return self.measured / self.known - 1 if self.known else float("nan")


def block(low: tuple[float, ...], high: tuple[float, ...], spacing: float) -> np.ndarray:
    """Particles that fill a box, half a spacing inside."""
    axes = [np.arange(a + spacing / 2, b - 1e-6 * spacing, spacing) for a, b in zip(low, high)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def free_fall(cells: int = 8) -> Answer:
    dx, seconds = 1 / 32, 0.5
    x = block((0, 0, 0), (cells * dx,) * 3, dx / 2)
    solver = Solver(ParticleSet.of(x, volumes=(dx / 2) ** 3, young=1e5))
    steps = solver.advance(seconds)
    drop = -(solver.positions - x)[:, 1].mean()
    exact = 0.5 * GRAVITY * seconds * (seconds + seconds / steps)
    return Answer("free fall", f"{len(x):,} particles", drop, exact, "m", "½ g t (t + dt), symplectic Euler", "1e-6")


def momentum_drift(cells: int = 8, steps: int = 1000) -> tuple[Answer, Answer]:
    """Of an elastic cube that spins, flies and swells."""
    dx = 1 / 32
    x = block((0, 0, 0), (cells * dx,) * 3, dx / 2)
    arm = x - x.mean(axis=0)
    v = np.cross([3.0, 2.0, 5.0], arm) + [0.7, -0.4, 0.2] + 0.5 * arm
    solver = Solver(ParticleSet.of(x, volumes=(dx / 2) ** 3, young=1e5, velocities=v), None, NOTHING)
    before = solver.momentum()
    solver.advance(steps * solver.dt)
    names = ("linear momentum", "angular momentum")
    found = [float(np.linalg.norm(b) / np.linalg.norm(a)) for a, b in zip(before, solver.momentum())]
    drift = [float(np.linalg.norm(b - a) / np.linalg.norm(a)) for a, b in zip(before, solver.momentum())]
    size = f"{len(x):,} particles, {solver.steps:,} steps"
    return tuple(  # type: ignore[return-value]
        Answer(name, size, 1 + change, 1.0, "of the start", "conservation", "1e-6")
        for name, _, change in zip(names, found, drift)
    )


def wave_speed(cells: int = 24) -> Answer:
    """Of the first longitudinal mode of a free bar, from its period."""
    young, rho, length = 1e6, 1000.0, 1.0
    dx = length / cells
    x = block((0, 0, 0), (length, 4 * dx, 4 * dx), dx / 2)
    mode = np.cos(np.pi * x[:, 0] / length)
    v = np.zeros_like(x)
    v[:, 0] = 0.05 * mode
    bar = ParticleSet.of(x, volumes=(dx / 2) ** 3, young=young, poisson=0.0, density=rho, velocities=v)
    solver = Solver(bar, None, NOTHING)
    known = float(np.sqrt(young / rho))
    period, sums, times = 2 * length / known, [], []
    while solver.time < 1.3 * period:
        solver.advance(period / 100)
        sums.append((solver.velocities[:, 0] * mode).mean())
        times.append(solver.time)
    a, t = np.array(sums), np.array(times)
    i = np.flatnonzero(a[:-1] * a[1:] < 0)
    zeros = t[i] - a[i] * (t[i + 1] - t[i]) / (a[i + 1] - a[i])
    return Answer(
        "wave speed in a bar", f"{cells} cells", length / np.diff(zeros).mean(), known, "m/s", "√(E/ρ)", "2 %"
    )


def cantilever(cells: int = 4, seconds: float = 0.6) -> Answer:
    """Sag of a beam under its weight, ``cells`` thick."""
    young, nu, rho, length, height = 1e7, 0.3, 1000.0, 1.0, 0.2
    dx = height / cells
    x = block((-3 * dx, 0, 0), (length, height, height), dx / 2)
    rate = 2 * np.pi * 3.2  # its first mode [1/s]
    beam = ParticleSet.of(x, volumes=(dx / 2) ** 3, young=young, poisson=nu, density=rho, damping=1.6 * rate)
    solver = Solver(beam)
    fast = np.flatnonzero(x[:, 0] < 0)
    solver.set_targets(fast, x[fast])
    solver.advance(seconds)
    tip = x[:, 0] > length - 0.6 * dx
    sag = -(solver.positions - x)[tip, 1].mean()
    weight = rho * GRAVITY
    known = 1.5 * weight * length**4 / (young * height**2) + weight * length**2 * 2 * (1 + nu) / (2 * 5 / 6 * young)
    return Answer("sag of a cantilever", f"{cells} cells thick", sag, known, "m", "Timoshenko", "2 % at 4 cells")


def steel_on_foam(cell: float = 0.02, seconds: float = 0.3) -> Answer:
    """How far a rigid block sinks into foam, against the same block as stiff elastic stuff in the same field."""
    h = cell / 2
    foam, steel = block((0.10, 0, 0.10), (0.40, 0.14, 0.40), h), block((0.16, 0.14, 0.16), (0.34, 0.20, 0.34), h)
    soft = ParticleSet.of(foam, volumes=h**3, young=5e4, density=100.0, damping=45.0)
    floor = Surroundings(planes=(Plane((0, 0, 0), (0, 1, 0), hold="stick"),))
    rigid = ParticleSet.of(steel, volumes=h**3, density=7800.0, damping=45.0, law=Law.RIGID, rigid=0)
    elastic = ParticleSet.of(steel, volumes=h**3, density=7800.0, damping=45.0, young=2e7)
    sags, steps = [], []
    for kind in (rigid, elastic):
        solver = Solver(ParticleSet.join([soft, kind]), None, floor)
        solver.advance(seconds)
        sags.append(float((steel - solver.positions[len(foam) :])[:, 1].mean()))
        steps.append(solver.steps)
    size = f"{len(foam) + len(steel):,} particles, {steps[1] / steps[0]:.1f} × fewer steps"
    return Answer("steel sinks into foam", size, 1e3 * sags[0], 1e3 * sags[1], "mm", "block with E = 2e7 Pa", "5 %")


def sand_repose(degrees: float = 35.0, cells: int = 14, seconds: float = 1.2) -> Answer:
    """Slope of the heap that a column of sand becomes, in a channel one can see as two-dimensional."""
    dx = 0.2 / cells
    h = dx / 2
    x = block((-0.1, 0, 0), (0.1, 0.16, 4 * dx), h)
    sand = ParticleSet.of(
        x, volumes=h**3, young=5e5, poisson=0.3, density=1500.0, law=Law.GRANULAR, friction_angle=np.deg2rad(degrees)
    )
    walls = (Plane((0, 0, 0), (0, 0, 1), hold="slip"), Plane((0, 0, 4 * dx), (0, 0, -1), hold="slip"))
    solver = Solver(sand, None, Surroundings(planes=(Plane((0, 0, 0), (0, 1, 0), friction=1.0), *walls)))
    solver.advance(seconds)
    return Answer(
        "angle of repose of sand", f"{len(x):,} particles", slope_of(solver.positions, dx), degrees, "°", "φ", "3°"
    )


def slope_of(x: np.ndarray, dx: float) -> float:
    """Of the flanks of a heap about x = 0 [°]: a line through the surface between 20 and 80 % of its height."""
    side = np.abs(x[:, 0])
    bins = np.floor(side / dx).astype(int)
    top = np.array(
        [np.quantile(x[bins == i, 1], 0.98) if (bins == i).sum() > 8 else np.nan for i in range(bins.max() + 1)]
    )
    where = (np.arange(len(top)) + 0.5) * dx
    high = np.nanmax(top)
    use = np.isfinite(top) & (top < 0.8 * high) & (top > 0.2 * high)
    return float(np.degrees(np.arctan(-np.polyfit(where[use], top[use], 1)[0])))


def dents(cells: int = 10) -> dict[str, float]:
    """How much of a squeeze by 30 % is left of a cube of metal and of a cube of jelly, half a second later."""
    left = {}
    for name, law, stress in (("metal", Law.METAL, 2e3), ("jelly", Law.ELASTIC, 1e30)):
        dx = 0.1 / cells
        x = block((0, 0, 0), (0.1, 0.1, 0.1), dx / 2)
        cube = ParticleSet.of(
            x,
            volumes=(dx / 2) ** 3,
            young=1e5,
            density=1000.0,
            law=law,
            yield_stress=stress,
            hardening=1e3,
            damping=5.0,
        )
        solver = Solver(cube, None, NOTHING)
        low, high = np.flatnonzero(x[:, 1] < dx), np.flatnonzero(x[:, 1] > 0.1 - dx)
        both = np.concatenate([low, high])
        goal = x[both] - np.where(np.arange(len(both)) < len(low), 0.0, 0.03)[:, None] * [0, 1, 0]
        solver.set_targets(both, goal, seconds=0.1)
        solver.advance(0.1)
        solver.set_targets(both[:0], goal[:0])
        solver.advance(0.5)
        height = solver.positions[high, 1].mean() - solver.positions[low, 1].mean()
        left[name] = float((0.1 - dx - height) / 0.03)
    return left


def sheet_stretch(vertices: int = 21, seconds: float = 0.25) -> tuple[Answer, float]:
    """A sheet drawn to 15 % strain: its stretch against the closed form, and its longest edge by the mean."""
    length, thick, young, rho, strain = 0.4, 1e-3, 1e6, 300.0, 0.15
    u = np.linspace(0, length, vertices)
    grid = np.stack(np.meshgrid(u, [0.0], u, indexing="ij"), axis=-1).reshape(-1, 3)
    i = np.arange(vertices**2).reshape(vertices, vertices)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    share = np.bincount(triangles.ravel(), minlength=len(grid)) * (u[1] ** 2 / 6)
    particles = ParticleSet.of(grid, volumes=share * thick, density=rho, law=Law.SHEET, damping=30.0)
    sheets = SheetSet.of(triangles, grid, thickness=thick, young=young, poisson=0.0, damping=1e-4)
    solver = Solver(particles, sheets, NOTHING, SolverConfig(cell=u[1]))
    fast, end = np.flatnonzero(grid[:, 0] < 1e-9), grid[:, 0] > length - 1e-9
    solver.set_targets(fast, grid[fast])
    force = np.zeros_like(grid)
    pull = young * length * thick * (1 + strain) * (strain + strain**2 / 2)
    weights = np.where(np.isin(np.flatnonzero(end), (i[-1, 0], i[-1, -1])), 0.5, 1.0)
    force[end, 0] = pull * weights / weights.sum()
    solver.set_forces(force)
    solver.advance(seconds)
    x = solver.positions.reshape(vertices, vertices, 3)
    middle = x[vertices // 4 : -vertices // 4, :, 0]
    measured = float((middle[-1] - middle[0]).mean() / (u[1] * (len(middle) - 1)) - 1)
    edges = np.linalg.norm(np.diff(x, axis=0), axis=2) / u[1]
    answer = Answer(
        "strain of a drawn sheet", f"{len(triangles):,} triangles", measured, strain, "", "σ = E (1+ε)(ε+ε²/2)", "5 %"
    )
    return answer, float(edges.max() / (1 + measured))


MARTIN_MOYCE = (
    (0.41, 1.11), (0.84, 1.22), (1.19, 1.44), (1.43, 1.67), (1.63, 1.89), (1.83, 2.11), (1.98, 2.33),
    (2.20, 2.56),
    (2.32, 2.78), (2.51, 3.00), (2.65, 3.22), (2.83, 3.44), (2.98, 3.67), (3.11, 3.89), (3.33, 4.11),
)  # fmt: skip
"""Martin and Moyce 1952, column twice as high as its base a = 2.25 inches: time t √(2g/a), front z/a."""


def dam_break(cells: int = 12, last: float = 3.4) -> tuple[Answer, np.ndarray]:
    """Front of a column of water that collapses, against the experiment: each time, the front there and here."""
    a = 0.05715
    dx = a / cells
    h = dx / 2
    x = block((0, 0, 0), (a, 2 * a, 4 * dx), h)
    rho, bulk = 1000.0, 1000.0 * (10 * np.sqrt(4 * GRAVITY * a)) ** 2
    water = ParticleSet.of(x, volumes=h**3, density=rho, law=Law.FLUID, young=bulk, viscosity=1e-3)
    walls = [((0, 0, 0), (1, 0, 0)), ((0, 0, 0), (0, 0, 1)), ((0, 0, 4 * dx), (0, 0, -1))]
    planes = [Plane((0, 0, 0), (0, 1, 0), friction=0.0), *(Plane(p, n, friction=0.0) for p, n in walls)]
    solver = Solver(water, None, Surroundings(planes=tuple(planes)))
    rows = []
    for when, where in MARTIN_MOYCE:
        if when <= last:
            solver.advance(when * np.sqrt(a / (2 * GRAVITY)) - solver.time)
            rows.append((when, where, float(np.quantile(solver.positions[:, 0], 0.998) + h / 2) / a))
    found = np.array(rows)
    end = found[-1]
    name = f"dam break, front at t √(2g/a) = {end[0]:.2f}"
    return Answer(name, f"{len(x):,} particles", end[2], end[1], "a", "Martin & Moyce 1952", ""), found


def energy_growth(seconds: float = 1.0, courant: float = SolverConfig.courant) -> float:
    """By how much the energy of a bouncing jelly cube ever exceeds what it was before, as a share of the start's."""
    dx = 1 / 32
    x = block((0, 0.1, 0), (0.25, 0.35, 0.25), dx / 2)
    jelly = ParticleSet.of(x, volumes=(dx / 2) ** 3, young=3e4, density=1000.0)
    floor = Surroundings(planes=(Plane((0, 0, 0), (0, 1, 0)),))
    solver = Solver(jelly, None, floor, SolverConfig(courant=courant))
    start = solver.energies().total
    lowest, growth = start, 0.0
    for _ in range(int(seconds / 0.02)):
        solver.advance(0.02)
        total = solver.energies().total
        growth, lowest = max(growth, total - lowest), min(lowest, total)
    return growth / start


def same_bits(threads: tuple[int, ...] = (1, 2), seconds: float = 0.15) -> bool:
    """Whether two objects of three laws that collide end in the same bits whatever the number of threads."""
    dx = 1 / 24
    a, b = block((0, 0, 0), (0.4, 0.2, 0.3), dx / 2), block((0.05, 0.22, 0.05), (0.3, 0.4, 0.3), dx / 2)
    parts = [
        ParticleSet.of(a, volumes=(dx / 2) ** 3, young=1e5),
        replace(
            ParticleSet.of(b, volumes=(dx / 2) ** 3, young=1e5, law=Law.METAL, yield_stress=1e3),
            body=np.ones(len(b), int),
        ),
    ]
    around, ends = Surroundings(planes=(Plane((0, 0, 0), (0, 1, 0)),)), []
    for count in threads:
        solver = Solver(ParticleSet.join(parts), None, around, SolverConfig(threads=count, small=0))
        solver.advance(seconds)
        ends.append(np.concatenate([solver.positions, solver.velocities]))
    return all((end == ends[0]).all() for end in ends)
