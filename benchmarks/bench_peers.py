"""Six scenes in neurok and in other simulators: one script, one run, one table.

    python benchmarks/bench_peers.py [--peer-python PYTHON ...] [--scenes jelly ...] [--peers mujoco ...] [--write PAGE]

Each run is a process of its own on one thread of the CPU, with an empty folder for compiled code unless the
environment names one (NUMBA_CACHE_DIR, WARP_CACHE_PATH). Speed is simulated time over CPU time of the steps after the
first. The error is that of the track (height of the middle, or the angle of a door, 20 times a second) against the same
method with a step a quarter as long and, where it has one, a finer resolution, as a share of the size; it says how
converged a method is at these settings, not which one is right. Each peer runs with what its own examples take. What
cannot be imported by any of the interpreters is left out and named.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FRAMES = 20
"""Of the track, per second."""

SOFT: dict[str, dict[str, Any]] = {
    "pillow": {"size": (0.4, 0.4, 0.12), "young": 1e4, "density": 60.0, "height": 0.2},
    "jelly": {"size": (0.2, 0.2, 0.2), "young": 2e4, "density": 300.0, "height": 0.1},
}
"""Soft blocks that fall: edges [m] (the last one upright), Young's modulus [Pa], density [kg/m^3], height [m]."""

CLOTH = {"length": 0.5, "thickness": 0.002, "young": 1e5, "density": 200.0}
BOXES = {"count": (5, 5, 2), "edge": 0.1, "gap": 0.03, "density": 300.0}
COLUMN = {"radius": 0.1, "height": 0.2, "density": 1600.0, "friction": 30.0}
SPEED = 1.5
"""Of the door of the cabinet at the start [rad/s]."""

SECONDS = {"pillow": 1.0, "jelly": 1.0, "cloth": 1.0, "boxes": 1.0, "cabinet": 1.0, "sand": 0.5}
WHAT = {
    "pillow": "soft block of 0.4 x 0.4 x 0.12 m falls",
    "jelly": "jelly of 0.2 m falls on a table",
    "cloth": "cloth of 0.5 m, held at an edge, falls from the level",
    "boxes": "50 boxes fall on each other",
    "cabinet": "door of the cabinet thrown open",
    "sand": "column of sand collapses",
}

Tracker = tuple[Callable[[], None], Callable[[], float], float]
"""What takes one frame, what is tracked [m or rad], and the size that errors are shares of."""


def neurok(scene: str, fine: bool, folder: str) -> Tracker:
    """Here."""
    import numpy as np
    import trimesh

    from neurok import load
    from neurok.core import Material, MaterialField, Mesh
    from neurok.dynamics import Body, Condition, Ground, Start, World, start
    from neurok.dynamics.particles.engine import ParticleEngine
    from neurok.dynamics.particles.engine_config import ParticleEngineConfig
    from neurok.dynamics.soft import soften

    def at(x: float, y: float, z: float) -> np.ndarray:
        out = np.eye(4)
        out[:3, 3] = x, y, z
        return out

    def block(edges: tuple[float, ...], cuts: int) -> Mesh:
        made = trimesh.creation.box(extents=[edges[0], edges[2], edges[1]])
        for _ in range(cuts):
            made = made.subdivide()
        return Mesh(np.asarray(made.vertices), np.asarray(made.faces))

    world, engine, size, dt = World(ground=Ground(0.0)), "auto", 1.0, None
    if scene in SOFT:
        told = SOFT[scene]
        mesh = block(told["size"], 4)
        stuff = Material("soft", young=told["young"], poisson=0.3, density=told["density"], damping_ratio=0.1)
        place = at(0, told["height"] + told["size"][2] / 2, 0)
        body = Body.of(mesh, materials=MaterialField.uniform(stuff, mesh.vertex_count), free=True, placement=place)
        bodies, size, dt = [soften(body, anyway=True)], told["size"][2], 1 / 480 if fine else None
    elif scene == "cloth":
        side = np.linspace(0, CLOTH["length"], 21)
        x, z = (each.reshape(-1) for each in np.meshgrid(side, side, indexing="ij"))
        corner = np.arange(20)[:, None] * 21 + np.arange(20)
        a, b, c, d = (corner + k for k in (0, 1, 22, 21))
        faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
        mesh = Mesh(np.stack([x, np.zeros_like(x), z], axis=1), faces)
        stuff = Material("cloth", young=CLOTH["young"], poisson=0.3, density=CLOTH["density"])
        body = Body.of(
            mesh, materials=MaterialField.uniform(stuff, mesh.vertex_count), thickness=CLOTH["thickness"], free=False
        )
        bodies, size = [soften(body, np.flatnonzero(x < 1e-9), anyway=True)], CLOTH["length"]
        world, dt = World(), 1 / 480 if fine else None
    elif scene == "boxes":
        mesh = block((BOXES["edge"],) * 3, 0)
        bodies = [Body.of(mesh, density=BOXES["density"], free=True, placement=at(x, z, y)) for x, y, z in boxes()]
        size, dt = BOXES["edge"], 1 / 960 if fine else None
    elif scene == "cabinet":
        joints = load("sample:cabinet").articulation
        rates = np.zeros(joints.dof)
        rates[door(joints)] = SPEED * opening(*joints.limits[door(joints)])
        bodies, world = [Body.of(joints, Condition(Start(qdot=rates)))], World(gravity=(0.0, 0.0, 0.0))
        dt = 1 / 192 if fine else None
    else:
        made = trimesh.creation.cylinder(radius=COLUMN["radius"], height=COLUMN["height"], sections=48)
        made = made.subdivide()
        places = np.asarray(made.vertices)[:, [0, 2, 1]] * [1, 1, -1]
        stuff = Material(
            "sand",
            young=1e6,
            poisson=0.3,
            density=COLUMN["density"],
            kind="sand",
            friction_angle=math.radians(COLUMN["friction"]),
        )
        mesh = Mesh(places + [0, COLUMN["height"] / 2, 0], np.asarray(made.faces))
        bodies = [Body.of(mesh, materials=MaterialField.uniform(stuff, mesh.vertex_count), free=True)]
        engine, size = ParticleEngine(config=ParticleEngineConfig(cells=36 if fine else 24)), COLUMN["height"]
    run = start(bodies, world, seconds=SECONDS[scene], fps=FRAMES, dt=dt, engine=engine)

    def step() -> None:
        run.step()

    if scene == "cabinet":
        return step, lambda: float(run._state.q[door(joints)]), 1.0
    free = x > CLOTH["length"] - 1e-9 if scene == "cloth" else slice(None)
    return step, lambda: float(np.mean([places[free, 1].mean() for places in run.positions])), size


def door(joints: Any) -> int:
    """The first coordinate that turns."""
    return next(k for k, joint in enumerate(j for j in joints.joints if j.kind != "fixed") if joint.kind == "revolute")


def opening(low: float, high: float) -> float:
    """The way a door has more room."""
    return 1.0 if high > -low else -1.0


def boxes() -> list[tuple[float, float, float]]:
    """Middles of the boxes, the layers shifted so that they fall on edges of others."""
    (nx, ny, nz), step = BOXES["count"], BOXES["edge"] + BOXES["gap"]
    return [
        (i * step + 0.04 * (k % 2), j * step + 0.03 * (k % 2) + 0.005 * i, 0.1 + k * 1.5 * step + 0.004 * j)
        for k in range(nz)
        for j in range(ny)
        for i in range(nx)
    ]


def cabinet(folder: str, suffix: str) -> str:
    """The cabinet as neurok exports it, which the driver has written."""
    return str(Path(folder) / f"cabinet.{suffix}")


def repeated(step: Callable[[], None], count: int) -> Callable[[], None]:
    def frame() -> None:
        for _ in range(count):
            step()

    return frame


def mujoco(scene: str, fine: bool, folder: str) -> Tracker:
    """MuJoCo: rigid bodies, and flexible ones (flex)."""
    import mujoco as mj
    import numpy as np

    dt, ground = (0.0005 if fine else 0.002), '<geom type="plane" size="5 5 1"/>'
    way = "implicitfast" if scene == "boxes" else "discrete"
    if scene in SOFT:
        told, n = SOFT[scene], 8 if fine else 6
        sizes, dt = told["size"], dt / 2
        spacing = " ".join(str(edge / (n - 1)) for edge in sizes)
        mass = told["density"] * math.prod(sizes)
        inner = f"""{ground}<flexcomp name="soft" type="grid" dim="3" count="{n} {n} {n}" radius="0.001"
            spacing="{spacing}"
            pos="0 0 {told["height"] + sizes[2] / 2 + 0.001}" mass="{mass}"><contact selfcollide="none"/>
            <elasticity young="{told["young"]}" poisson="0.3" damping="0.01"/></flexcomp>"""
        size = sizes[2]
    elif scene == "cloth":
        n, length = 16 if fine else 11, CLOTH["length"]
        mass = CLOTH["density"] * CLOTH["thickness"] * length**2
        inner = f"""<flexcomp name="cloth" type="grid" dim="2" count="{n} {n} 1" radius="0.001" mass="{mass}"
            spacing="{length / (n - 1)} {length / (n - 1)} 1" pos="0 0 1"><contact selfcollide="none"/>
            <elasticity young="{CLOTH["young"]}" poisson="0.3" thickness="{CLOTH["thickness"]}"
            elastic2d="both" damping="0.01"/>
            <pin gridrange="0 0 0 {n - 1}"/></flexcomp>"""
        size = length
    elif scene == "boxes":
        half = BOXES["edge"] / 2
        inner = ground + "".join(
            f'<body pos="{x} {y} {z}"><freejoint/><geom type="box" size="{half} {half} {half}" '
            f'density="{BOXES["density"]}" friction="0.5 0.005 0.0001"/></body>'
            for x, y, z in boxes()
        )
        size = BOXES["edge"]
    elif scene == "cabinet":
        model = mj.MjModel.from_xml_path(cabinet(folder, "xml"))
        model.opt.timestep, model.opt.gravity[:] = dt, 0.0
        data = mj.MjData(model)
        turns = int(np.flatnonzero(model.jnt_type == mj.mjtJoint.mjJNT_HINGE)[0])
        data.qvel[model.jnt_dofadr[turns]] = SPEED * opening(*model.jnt_range[turns])
        step = repeated(lambda: mj.mj_step(model, data), round(1 / (FRAMES * dt)))
        return step, lambda: float(data.qpos[model.jnt_qposadr[turns]]), 1.0
    else:
        raise NotImplementedError("no granular material")
    model = mj.MjModel.from_xml_string(
        f'<mujoco><option timestep="{dt}" integrator="{way}"/><worldbody>{inner}</worldbody></mujoco>'
    )
    data = mj.MjData(model)
    mj.mj_forward(model, data)
    edge = slice(None)
    if scene == "cloth":
        edge = np.flatnonzero(np.isclose(data.flexvert_xpos[:, 0], data.flexvert_xpos[:, 0].max()))

    def where() -> float:
        if scene == "boxes":
            return float(data.xpos[1:, 2].mean())
        return float(data.flexvert_xpos[edge, 2].mean()) - (1.0 if scene == "cloth" else 0.0)

    return repeated(lambda: mj.mj_step(model, data), round(1 / (FRAMES * dt))), where, size


def pybullet(scene: str, fine: bool, folder: str) -> Tracker:
    """PyBullet: rigid bodies."""
    import numpy as np
    import pybullet as pb

    dt = 1 / 960 if fine else 1 / 240
    world = pb.connect(pb.DIRECT)
    pb.setGravity(0, 0, 0 if scene == "cabinet" else -9.81, physicsClientId=world)
    pb.setTimeStep(dt, physicsClientId=world)
    step = repeated(lambda: pb.stepSimulation(physicsClientId=world), round(1 / (FRAMES * dt)))
    if scene == "cabinet":
        robot = pb.loadURDF(cabinet(folder, "urdf"), useFixedBase=True, physicsClientId=world)
        kinds = [pb.getJointInfo(robot, j)[2] for j in range(pb.getNumJoints(robot))]
        turns = kinds.index(pb.JOINT_REVOLUTE)
        for j, kind in enumerate(kinds):
            if kind != pb.JOINT_FIXED:
                pb.setJointMotorControl2(robot, j, pb.VELOCITY_CONTROL, force=0.0)
        pb.resetJointState(robot, turns, 0.0, SPEED * opening(*pb.getJointInfo(robot, turns)[8:10]))
        return step, lambda: float(pb.getJointState(robot, turns)[0]), 1.0
    plane = pb.createCollisionShape(pb.GEOM_PLANE)
    pb.createMultiBody(0, plane)
    if scene == "boxes":
        shape = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=[BOXES["edge"] / 2] * 3)
        mass = BOXES["density"] * BOXES["edge"] ** 3
        bodies = [pb.createMultiBody(mass, shape, basePosition=place) for place in boxes()]
        return step, lambda: float(np.mean([pb.getBasePositionAndOrientation(b)[0][2] for b in bodies])), BOXES["edge"]
    if scene not in SOFT:
        raise NotImplementedError("no granular material" if scene == "sand" else "cloth of springs alone")
    raise NotImplementedError("a soft block of finite elements did not fall as we set it up")


def lame(young: float, poisson: float = 0.3) -> tuple[float, float]:
    return young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))


def newton(scene: str, fine: bool, folder: str) -> Tracker:
    """Newton on Warp: VBD for what is soft, XPBD for rigid bodies, implicit MPM for sand."""
    import newton as nt
    import numpy as np
    import warp as wp

    wp.config.quiet = True
    wp.set_device("cpu")
    builder, dt, solver = nt.ModelBuilder(), 1 / 600, None
    if scene == "sand":
        from newton.solvers import SolverImplicitMPM

        SolverImplicitMPM.register_custom_attributes(builder)
    if scene == "cabinet":
        raise NotImplementedError("its MuJoCo solver needs a GPU or is MuJoCo itself")
    if scene != "cloth":
        builder.add_ground_plane(cfg=nt.ModelBuilder.ShapeConfig(mu=0.5))
    if scene in SOFT:
        told, n = SOFT[scene], 7 if fine else 5
        (a, b, c), (mu, lam) = told["size"], lame(told["young"])
        builder.add_soft_grid(
            pos=wp.vec3(-a / 2, -b / 2, told["height"]), rot=wp.quat_identity(), vel=wp.vec3(0.0, 0.0, 0.0),
            dim_x=n, dim_y=n, dim_z=n, cell_x=a / n, cell_y=b / n, cell_z=c / n,
            density=told["density"], k_mu=mu, k_lambda=lam, k_damp=1e-2, particle_radius=0.005,
        )  # fmt: skip
        size = c
    elif scene == "cloth":
        n, length = 15 if fine else 10, CLOTH["length"]
        mu, lam = lame(CLOTH["young"])
        builder.add_cloth_grid(
            pos=wp.vec3(0.0, 0.0, 1.0), rot=wp.quat_identity(), vel=wp.vec3(0.0, 0.0, 0.0), dim_x=n, dim_y=n,
            cell_x=length / n, cell_y=length / n, fix_left=True, edge_kd=0.0, tri_kd=1e-2,
            mass=CLOTH["density"] * CLOTH["thickness"] * length**2 / (n + 1) ** 2,
            tri_ke=mu * CLOTH["thickness"], tri_ka=lam * CLOTH["thickness"],
            edge_ke=CLOTH["young"] * CLOTH["thickness"] ** 3 / 12, particle_radius=0.005,
        )  # fmt: skip
        size = length
    elif scene == "boxes":
        half = BOXES["edge"] / 2
        for place in boxes():
            body = builder.add_body(xform=wp.transform(wp.vec3(*place), wp.quat_identity()))
            builder.add_shape_box(
                body, hx=half, hy=half, hz=half, cfg=nt.ModelBuilder.ShapeConfig(density=BOXES["density"], mu=0.5)
            )
        size = BOXES["edge"]
    else:
        cell = COLUMN["height"] / (48 if fine else 24) / 2
        counts = (round(2 * COLUMN["radius"] / cell), round(COLUMN["height"] / cell))
        side, up = ((np.arange(count) + 0.5) * cell for count in counts)
        grid = np.stack(
            np.meshgrid(side - COLUMN["radius"], side - COLUMN["radius"], up, indexing="ij"), axis=-1
        ).reshape(-1, 3)
        places = grid[np.hypot(grid[:, 0], grid[:, 1]) <= COLUMN["radius"]]
        for place in places:
            builder.add_particle(wp.vec3(*place), wp.vec3(0.0, 0.0, 0.0), COLUMN["density"] * cell**3, radius=cell / 2)
        size, dt = COLUMN["height"], 1 / 240
    if fine:
        dt /= 4
    if scene in SOFT or scene == "cloth":
        builder.color()
    model = builder.finalize(device="cpu")
    if scene == "sand":
        config = SolverImplicitMPM.Config()
        config.voxel_size = 2 * cell
        solver = SolverImplicitMPM(model, config)
    elif scene == "boxes":
        solver = nt.solvers.SolverXPBD(model, iterations=10)
    else:
        model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1e4, 0.0, 0.5
        solver = nt.solvers.SolverVBD(
            model, iterations=10, particle_enable_self_contact=False, particle_enable_tile_solve=False
        )
    states, control = [model.state(), model.state()], model.control()
    pipeline = nt.CollisionPipeline(model)
    contacts = pipeline.contacts()

    def step() -> None:
        states[0].clear_forces()
        if scene not in ("sand", "cloth"):
            pipeline.collide(states[0], contacts)
        solver.step(states[0], states[1], control, None if scene == "sand" else contacts, dt)
        if scene == "sand":
            solver.project_outside(states[1], states[1], dt)
        states.reverse()

    def where() -> float:
        if scene == "boxes":
            return float(states[0].body_q.numpy()[:, 2].mean())
        return float(states[0].particle_q.numpy()[free, 2].mean()) - (1.0 if scene == "cloth" else 0.0)

    begin = None if scene == "boxes" else states[0].particle_q.numpy()
    free = begin[:, 0] > CLOTH["length"] - 1e-6 if scene == "cloth" else slice(None)  # type: ignore[index]
    return repeated(step, round(1 / (FRAMES * dt))), where, size


def genesis(scene: str, fine: bool, folder: str) -> Tracker:
    """Genesis: rigid bodies, finite elements, MPM."""
    import genesis as gs
    import numpy as np

    if scene == "cloth":
        raise NotImplementedError("its cloth is of positions alone, without these materials")
    gs.init(backend=gs.cpu, precision="32", logging_level="error")
    dt = (0.0005 if fine else 0.002) if scene in ("boxes", "cabinet") else (0.001 if fine else 0.004)
    options: dict[str, Any] = {
        "sim_options": gs.options.SimOptions(dt=dt, gravity=(0, 0, 0 if scene == "cabinet" else -9.81))
    }
    if scene in SOFT or scene == "sand":
        options["sim_options"] = gs.options.SimOptions(dt=dt, substeps=10, gravity=(0, 0, -9.81))
        options["mpm_options"] = gs.options.MPMOptions(
            lower_bound=(-0.5, -0.5, -0.05), upper_bound=(0.5, 0.5, 0.7), grid_density=96 if fine else 64
        )
    world = gs.Scene(show_viewer=False, **options)
    if scene == "cabinet":
        thing = world.add_entity(gs.morphs.URDF(file=cabinet(folder, "urdf"), fixed=True))
    else:
        world.add_entity(gs.morphs.Plane())
    if scene in SOFT:
        told = SOFT[scene]
        stuff = gs.materials.MPM.Elastic(E=told["young"], nu=0.3, rho=told["density"])
        thing = world.add_entity(
            gs.morphs.Box(size=told["size"], pos=(0, 0, told["height"] + told["size"][2] / 2)), material=stuff
        )
    elif scene == "sand":
        stuff = gs.materials.MPM.Sand(rho=COLUMN["density"], friction_angle=COLUMN["friction"])
        form = gs.morphs.Cylinder(
            radius=COLUMN["radius"], height=COLUMN["height"], pos=(0, 0, COLUMN["height"] / 2 + 0.01)
        )
        thing = world.add_entity(form, material=stuff)
    elif scene == "boxes":
        stuff = gs.materials.Rigid(rho=BOXES["density"], friction=0.5)
        things = [
            world.add_entity(gs.morphs.Box(size=(BOXES["edge"],) * 3, pos=place), material=stuff) for place in boxes()
        ]
    world.build()
    step = repeated(world.step, round(1 / (FRAMES * dt)))
    if scene == "boxes":
        return step, lambda: float(np.mean([float(t.get_pos()[2]) for t in things])), BOXES["edge"]
    if scene == "cabinet":
        turns = next(
            k for k, joint in enumerate(j for j in thing.joints if j.n_dofs) if joint.type == gs.JOINT_TYPE.REVOLUTE
        )
        rates = np.zeros(thing.n_dofs)
        rates[turns] = SPEED * opening(*(float(bound[turns]) for bound in thing.get_dofs_limit()))
        thing.set_dofs_velocity(rates)
        return step, lambda: float(thing.get_dofs_position()[turns]), 1.0
    size = COLUMN["height"] if scene == "sand" else SOFT[scene]["size"][2]
    return step, lambda: float(np.asarray(thing.get_particles_pos()).reshape(-1, 3)[:, 2].mean()), size


PEERS = {"neurok": neurok, "mujoco": mujoco, "newton": newton, "pybullet": pybullet, "genesis": genesis}


def one(peer: str, scene: str, fine: bool, folder: str) -> None:
    """One run in this process."""
    try:
        step, where, size = PEERS[peer](scene, fine, folder)
    except NotImplementedError as reason:
        print(json.dumps({"lacks": str(reason)}))
        return
    track = [where()]
    step()
    first, begin = time.process_time(), time.process_time()
    track.append(where())
    count = round(SECONDS[scene] * FRAMES)
    for _ in range(count - 1):
        step()
        track.append(where())
    spent = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {"speed": (count - 1) / FRAMES / spent, "first": first, "memory": memory, "track": track, "size": size}
        )
    )


def asked(python: str, words: list[str], cache: str, limit: float) -> dict[str, Any]:
    """What a process of its own prints; why it printed nothing."""
    names = ("NUMBA_CACHE_DIR", "WARP_CACHE_PATH", "QD_OFFLINE_CACHE_FILE_PATH")
    folders = {name: os.environ.get(name, str(Path(cache) / name)) for name in names}
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    try:
        done = subprocess.run(
            [python, __file__, *words],
            env={**os.environ, **folders, **threads},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return {"lacks": f"not done within {limit:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"lacks": (done.stderr.strip().splitlines() or ["no answer"])[-1][:110]}
    return dict(json.loads(lines[-1]))


def importable(peer: str, pythons: list[str]) -> str | None:
    """The first interpreter that has a peer."""
    look = f"import importlib.util as u, sys; sys.exit(u.find_spec({peer!r}) is None)"
    return next((p for p in pythons if not subprocess.run([p, "-c", look], capture_output=True).returncode), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("PEER", "SCENE", "FOLDER"), help="a single run in this process")
    parser.add_argument("--fine", action="store_true")
    parser.add_argument("--peer-python", nargs="*", default=[], help="interpreters that have other simulators")
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--scenes", nargs="*", default=list(WHAT))
    parser.add_argument("--limit", type=float, default=900.0, help="wall seconds of one run")
    parser.add_argument("--write", type=Path)
    told = parser.parse_args()
    if told.one:
        peer, scene, folder = told.one
        one(peer, scene, told.fine, folder)
        return
    from figures import replace_block, stamp

    pythons = {peer: importable(peer, [sys.executable, *told.peer_python]) for peer in told.peers}
    lines = [
        "| scene | simulator | s per CPU s | error [% of size] | memory [MB] | first step [CPU s] |",
        "|---|---|---|---|---|---|",
    ]
    lacking = [f"{peer}: not installed" for peer, python in pythons.items() if python is None]
    with tempfile.TemporaryDirectory() as folder:
        if "cabinet" in told.scenes:
            words = ["articulate", "sample:cabinet", "--out", cabinet(folder, "urdf"), cabinet(folder, "xml")]
            subprocess.run([sys.executable, "-m", "neurok", *words], check=True, capture_output=True)
        for scene in told.scenes:
            for peer, python in pythons.items():
                if python is None:
                    continue
                cache = str(Path(folder) / f"{peer} {scene}")
                found = asked(python, ["--one", peer, scene, folder], cache, told.limit)
                if "lacks" in found:
                    lacking.append(f"{peer}, {scene}: {found['lacks']}")
                    print(lacking[-1], flush=True)
                    continue
                fine = asked(python, ["--one", peer, scene, folder, "--fine"], cache, told.limit)
                error = fine.get("lacks", "")
                if not error:
                    pairs = zip(found["track"], fine["track"])
                    mean = sum((a - b) ** 2 for a, b in pairs) / len(fine["track"])
                    error = f"{100 * math.sqrt(mean) / found['size']:.2g}"
                figures = f"{found['speed']:.3g} | {error} | {found['memory']:.0f} | {found['first']:.3g}"
                lines.append(f"| {WHAT[scene]} | {peer} | {figures} |")
                print(lines[-1], [round(value, 4) for value in found["track"][:: FRAMES // 5]], flush=True)
                text = "\n".join([*lines, "", *([f"Left out: {'; '.join(lacking)}.", ""] if lacking else []), stamp()])
                if told.write is not None:
                    replace_block(told.write, "peers", text)


if __name__ == "__main__":
    main()
