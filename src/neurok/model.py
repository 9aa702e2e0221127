"""One object, understood once: its frame, parts, body plan, materials, and the spaces of poses that follow from them.

Every verb (``plan``, ``articulate``, ``infer``, ``sample``, ``pose``, ``simulate``, ``propose_materials``, the studio)
takes a file, an asset or a ``Model``, and asks the model; none of them decides again. What takes time (the search for
joints, the networks, the proposal of materials) is done when it is asked for, and at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Int

from neurok.bodyplan.config import MOSTLY_SOFT, POSSIBLE
from neurok.bodyplan.editing import plan_of_joints
from neurok.bodyplan.interior import with_interiors
from neurok.bodyplan.plan import BodyPlan
from neurok.core import Articulation, Asset, Joint, Material, MaterialField, Mesh, material
from neurok.core.material_library import library
from neurok.core.mesh import UpAxis
from neurok.core.select import select_region
from neurok.errors import NeurokError, check_choice, counted
from neurok.geometry.operators import face_areas
from neurok.inference.mass import AS_ESTIMATED, MassEstimate, Weighing, estimate_mass, is_solid, scaled
from neurok.inference.materials import BY_HAND, IN_FILE, Proposals, propose, soft_share
from neurok.inference.plan import Method, PlanStudy, study
from neurok.kinematics import ArticulatedSpace, KinematicSpace, LinearSpace
from neurok.kinematics.skeleton import skeleton_space
from neurok.kinematics.space import clip_of, through_states
from neurok.kinematics.tracks import tracked_space

if TYPE_CHECKING:
    from functools import cached_property

    from neurok.inference.points import PointSpace, ReductionMode
    from neurok.learned.deformation.points import PointModel

if not TYPE_CHECKING:

    class cached_property:
        """As that of functools, which before Python 3.12 has one lock for all objects: threads wait for each other."""

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            if owner is None:
                return self
            return owner.__dict__.setdefault(self.name, self.function(owner))


SpaceName = Literal["auto", "joints", "clip", "learned", "latent", "elastic", "rigid"]
PartsFrom = Literal["file", "pieces"]

MIXED = 0.1
"""Share of the surface below which a part that is otherwise made is a detail."""

CLIP_MODES = 8
"""Coordinates of an object whose own animation spans its poses, where no rigid bones carry it."""

SHOWN_STATES = 4
"""States that the motion of bones goes through."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Networks that are asked: models, ``.safetensors`` files or hub ids; the shipped ones by default."""

    deformation: Any = None
    joints: Any = None
    pieces: Any = None
    views: Any = None


@dataclass(frozen=True, eq=False)
class Model:
    """What is known and what was decided of one object; ``understand`` makes one."""

    asset: Asset
    """The object in its frame (unit and up axis)."""

    parts: PartsFrom | Int[np.ndarray, " N"] = "file"
    """What its bodies are: parts that the file names, connected pieces grouped anew, or a label for each face or
    vertex."""

    method: Method = "auto"
    weights: Weights = Weights()
    given_plan: BodyPlan | str | Path | None = None
    """A plan that counts whatever the file says of joints, or the file of one."""

    given_materials: Mapping[str, Material] = field(default_factory=dict)
    """Named by part, surface, place or ``all``."""

    materials_file: str | Path | None = None
    """File of its materials, as ``neurok materials`` writes it; ``given_materials`` count over it."""

    weighing: Weighing = AS_ESTIMATED
    """What somebody says of its mass."""

    interior: bool = True
    """Whether parts that are cut out of a closed surface get a back, and what is behind them a cavity."""

    notes: tuple[str, ...] = ()
    """How it is read otherwise than its file says, one sentence each."""

    def __repr__(self) -> str:
        return f"<Model of {self.mesh!r}>"

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: what was given and found, not the networks."""
        state = {item.name: self.__dict__[item.name] for item in fields(self)}
        found = self.__dict__.get("study")
        known = {} if found is None else {"study": replace(found, search=None, evidence={}, groups=None)}
        return state | known | {name: self.__dict__[name] for name in ("materials",) if name in self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def mesh(self) -> Mesh:
        return self.asset.mesh

    # What it is made of.

    @cached_property
    def materials(self) -> Proposals:
        """The material of each region with confidence and reason: named, in the file, or proposed."""
        from neurok.io.materials_file import read_materials

        found = propose(self.asset)
        if self.materials_file is not None:
            found = found.with_field(read_materials(str(self.materials_file), self.mesh))
        for name, given in sorted(self.given_materials.items(), key=lambda item: item[0] != "all"):
            found = found.with_material(name, given) if found.names_regions(name) else found
        return found

    @cached_property
    def field(self) -> MaterialField:
        """What each vertex is made of, with densities that give the object its mass."""
        return self.mass.field

    @cached_property
    def mass(self) -> MassEstimate:
        """What it weighs, and how that came about; densities of its file and of materials of one's own are kept."""
        field, known = self.materials.field, library()
        usual = [known[m.name].material.density if m.name in known else np.nan for m in field.materials]
        stated = ~np.isclose(field.density, np.array(usual)[field.ids])
        in_file = self.asset.materials is not None and self.materials_file is None
        for item in self.materials.items:
            named = item.reason == BY_HAND and is_solid(item.material)  # jelly is jelly all through, steel is sheets
            stated[item.region.vertices] |= named or (in_file and item.reason == IN_FILE)
        return estimate_mass(self.mesh, field, self.materials.identity, stated, self.weighing)

    def field_on(self, mesh: Mesh) -> MaterialField:
        """The materials of the vertices of a mesh of this object, whose bodies may have been cut apart."""
        found = self.field
        if len(found.ids) != mesh.vertex_count:
            found = found.at(mesh.vertices, self.mesh.vertices)
            found = scaled(mesh, found, self.mass.mass, np.zeros(mesh.vertex_count, dtype=bool))  # cuts are open
        for name, given in self.given_materials.items():
            if not self.materials.names_regions(name):  # a body of the plan, or another place
                found = found.with_part(select_region(mesh, name), given)
        return found

    def named_on(self, mesh: Mesh) -> Bool[np.ndarray, " V"]:
        """Vertices whose material somebody named: what the file says of their mass no longer holds."""
        out = np.full(mesh.vertex_count, self.materials_file is not None)
        for name in self.given_materials:
            out[select_region(mesh, name)] = True
        return out

    @cached_property
    def is_soft(self) -> bool:
        """Whether it deforms as a whole: most of its surface is soft, and nobody says that it has joints.

        Joints that only a plan finds in soft things, such as straps, are bends of their material.
        """
        moves = self.asset.articulation is not None or any(clip.frame_count > 1 for clip in self.asset.clips)
        return not moves and self.given_plan is None and soft_share(self.mesh, self.materials.field) > MOSTLY_SOFT

    @cached_property
    def matter(self) -> Literal["hard", "soft", "thin", "mixed"]:
        """Whether it keeps its shape, yields, is a textile sheet or sack, or has parts of both kinds."""
        field, known = self.materials.field, library()
        soft, identity = soft_share(self.mesh, field), self.materials.identity
        if soft <= MIXED:
            return "hard"
        framed = identity is not None and identity.thing.framed  # a sofa of one surface has its frame inside
        if soft < 1.0 - MIXED or framed:
            return "mixed"
        textile = [m.name in known and known[m.name].family in ("fabric", "leather") for m in field.materials]
        sheets = np.array(textile)[field.ids[self.mesh.faces[:, 0]]]
        areas = face_areas(self.mesh.vertices, self.mesh.faces)
        return "thin" if float(areas[sheets].sum()) > 0.5 * float(areas.sum()) else "soft"

    @cached_property
    def yields(self) -> bool:
        """Whether anything of it deforms: more than a detail is soft, or somebody named a soft material."""
        known = [item.material for item in self.materials.items if item.is_known] + list(self.given_materials.values())
        return self.matter != "hard" or any(material.is_soft for material in known)

    # How it moves.

    @cached_property
    def study(self) -> PlanStudy:
        """What search and networks say of its bodies and joints, whatever its file says of joints."""
        return study(
            self.asset,
            labels=None if isinstance(self.parts, str) else self.parts,
            method=self.method,
            joint_weights=self.weights.joints,
            piece_weights=self.weights.pieces,
            view_weights=self.weights.views,
            given_parts=not isinstance(self.parts, str) or self.parts == "file",
        )

    @cached_property
    def plan(self) -> BodyPlan:
        """Its bodies and how they may move: given, behind its own animation, or found; with all ranked hypotheses."""
        from neurok.bodyplan.plan_file import read_plan

        if isinstance(self.given_plan, str | Path):
            return read_plan(self.given_plan, self.mesh)
        return self.given_plan or self.animated_plan or self._found_plan

    @cached_property
    def animated_plan(self) -> BodyPlan | None:
        """The plan behind the animation of its file, if nodes are rigid and have one joint each."""
        if self.method != "auto" or not isinstance(self.parts, str):
            return None
        joints = None if self._tracks is None else self._tracks.articulation
        if joints is None or not joints.dof:
            return None
        try:
            return plan_of_joints(joints)
        except NeurokError:  # a node without a surface
            return None

    @cached_property
    def _tracks(self) -> KinematicSpace | None:
        return tracked_space(self.mesh, self.asset.clips)

    @property
    def plan_source(self) -> Literal["plan", "animation", "learned", "search"]:
        """Who says how it moves."""
        if self.given_plan is not None:
            return "plan"
        return "animation" if self.animated_plan is not None else self.study.method

    # The deformation network.

    @cached_property
    def network(self) -> PointModel:
        """The deformation network, given or shipped."""
        from neurok.hub import load_model

        given = self.weights.deformation
        if given is None or isinstance(given, str | Path):
            return load_model("deformation" if given is None else given, "deformation")
        return given  # type: ignore[no-any-return]

    def latent_space(self, mode: ReductionMode = "gram", dim: int | None = None) -> PointSpace:
        """The latent of the deformation network as coordinates (NeuROK), without joints."""
        from neurok.inference.points import infer_points

        return infer_points(self.mesh, self.network, mode, dim)

    # Spaces of poses.

    def space(self, name: SpaceName = "auto") -> KinematicSpace:
        """The poses it can take.

        Args:
            name: ``joints`` of its file, those behind its own ``clip`` (or the span of its frames), ``learned`` ones
                of its body plan, the ``latent`` of the deformation network, or ``rigid``: only the pose it has.
                ``elastic`` begins as that, too: its material says later how it bends. ``auto`` takes a plan that was
                given, else the first of the others there is.

        Raises:
            NeurokError: If there is no such space.
        """
        makers: dict[str, Callable[[], KinematicSpace | None]] = {
            "joints": self._of_joints,
            "clip": self._of_clip,
            "learned": self._of_plan,
            "latent": self.latent_space,
            "elastic": self._of_one_pose,
            "rigid": self._of_one_pose,
        }
        check_choice("space", name, get_args(SpaceName))
        if name == "auto":
            joints = self.asset.articulation
            order = ["joints", "clip", "learned", "rigid"]
            if self.given_plan is not None:
                order = ["learned", "rigid"]
            elif joints is not None and not joints.dof:  # a file that says that all is fixed is believed
                order = ["rigid"]
            elif self.is_soft:
                order = ["elastic"]
            return next(space for key in order if (space := makers[key]()) is not None)
        found = makers[name]()
        if found is None:
            lack = {"joints": "no joints", "clip": "no animation", "learned": "no joints in its body plan"}[name]
            raise NeurokError(f"'{self.mesh.name}' has {lack}, so its space cannot be '{name}'; leave it at 'auto'.")
        return found

    def _of_joints(self) -> ArticulatedSpace | None:
        joints = self.asset.articulation
        return ArticulatedSpace(joints) if joints is not None and joints.dof else None

    def _of_clip(self) -> KinematicSpace | None:
        clip = next((clip for clip in self.asset.clips if clip.frame_count > 1), None)
        if clip is None:
            return None
        return self._tracks or LinearSpace.from_clip(clip, CLIP_MODES)

    def _of_plan(self) -> KinematicSpace | None:
        return self.planned if self.planned.dim else None

    def _of_one_pose(self) -> ArticulatedSpace:
        joints = self.asset.articulation
        if joints is not None and not joints.dof:
            return ArticulatedSpace(joints)
        return ArticulatedSpace(Articulation(self.mesh, (Joint(),) * self.mesh.part_count, name=self.mesh.name))

    @cached_property
    def planned(self) -> ArticulatedSpace:
        """The joints of its plan."""
        return ArticulatedSpace(self.joints_of(self._found_plan))

    @cached_property
    def _found_plan(self) -> BodyPlan:
        """The plan that counts over joints and clips of the file.

        What is mostly soft bends and has no joint: leaves, straps and cushions yield.
        """
        if self.given_plan is not None:
            return self.plan
        plan = self.study.plan
        soft = self.field_on(plan.mesh).is_soft[plan.mesh.faces].all(axis=1)
        share = np.bincount(plan.mesh.face_parts, soft, len(plan.bodies)) / np.bincount(plan.mesh.face_parts)
        bodies = (
            replace(body, joint=None, bends=True) if some > MOSTLY_SOFT else replace(body, bends=False)
            for body, some in zip(plan.bodies, share, strict=True)
        )
        return replace(plan, bodies=tuple(bodies))

    def joints_of(self, plan: BodyPlan) -> Articulation:
        """The joints of a plan on the mesh that moves: what was cut out of a surface has an inside."""
        return with_interiors(plan.articulation) if self.interior and plan.origin == "pieces" else plan.articulation

    def space_to_sample(self, name: SpaceName = "auto") -> KinematicSpace:
        """The space that states are drawn from.

        Raises:
            NeurokError: If it has only one pose.
        """
        return self.spaces_for(name)[0]

    def spaces_for(
        self, name: SpaceName = "auto", *, target: bool = False, deform: bool = False
    ) -> list[KinematicSpace]:
        """Spaces in which to look for a pose, the simplest first.

        Joints and clips of a file are the only space, and a file that says that all is fixed is believed unless
        ``deform`` allows to leave the object's own space.

        Raises:
            NeurokError: If it has only one pose.
        """
        chosen = self.space(name) if name not in ("auto", "learned") else None
        if chosen is None and name == "auto" and self.given_plan is None:
            chosen = self._of_joints() or self._of_clip()
            if chosen is None and self.asset.articulation is not None and not deform:
                chosen = self._of_one_pose()
        found = [chosen] if chosen is not None else self.learned_spaces(target=target, deform=deform)
        if not found or not found[0].dim:
            raise NeurokError(self._one_pose() + (" --deform bends it all the same." if target and not deform else ""))
        return found

    def learned_spaces(self, *, target: bool = False, deform: bool = False) -> list[KinematicSpace]:
        """Spaces of its body plan, the simplest first; empty where nothing moves.

        First come the joints that hold, and for a ``target``, which shows that something moves, those that are only
        possible. Where it bends and has no joint, or ``deform`` asks for it, bones found from its surface follow, or
        the latent of the network where there are none.
        """
        plan, found = self._found_plan, list[KinematicSpace]()
        if self.planned.dim:
            found.append(self.planned)
        if target and self.given_plan is None:
            possible = plan.above(POSSIBLE)
            if len(possible.moving) > len(plan.moving):
                found.append(ArticulatedSpace(self.joints_of(possible)))
        if deform or (plan.bends and not self.planned.dim):
            found.append(skeleton_space(plan.mesh, loose=target) or self.latent_space())
        return found

    def _one_pose(self) -> str:
        """Why there is nothing to draw or to look in."""
        found = ""
        if self.asset.articulation is None and not self.asset.clips:
            found = " Nothing of its body plan is likely to move; correct it with --plan."
        return f"'{self.mesh.name}' has no joints and no animation, so it has only the pose it is in.{found}"

    def why(self, space: KinematicSpace, name: SpaceName = "auto") -> str:
        """In one sentence which space it has, and why."""
        joints, given = space.rigid_joints, self.given_plan is not None
        count = 0 if joints is None else joints.dof
        if space.stiffness is not None:
            return f"{space.kind}: {self._soft_reason()}, so {counted(space.dim - count, 'mode')} of it deform."
        if name in ("rigid", "elastic"):
            return f"{name}: asked for."
        if space.kind == "latent":
            return f"latent: {counted(space.dim, 'direction')} of the latent of the deformation network."
        if not space.dim:
            fixed = self.asset.articulation is not None and not self.asset.articulation.dof
            why = "its file says that all joints are fixed" if fixed else "nothing of its body plan is likely to move"
            return f"rigid: {why}, so it moves as a whole."
        if count and self.asset.articulation is not None and name != "learned" and not given:
            return f"joints: {counted(count, 'joint')} of its file."
        if self.asset.clips and name != "learned" and not given:
            ways = {
                "joints": f"{counted(count, 'joint')} behind its animation",
                "bones": f"{space.dim} turns and slides of the bones behind its animation",
            }
            modes = f"{space.dim} modes of its animation, which no rigid bones carry"
            return f"{space.kind}: {ways.get(space.kind, modes)}."
        asked = "asked for" if name == "learned" else "its file has no joints or animation"
        why = "the body plan handed over" if given else asked
        if space.kind == "skeleton":
            return f"skeleton: {counted(space.dim, 'turn')} of bones found from its surface ({why})."
        return f"{space.kind}: {counted(count, 'joint')} of its body plan ({why})."

    def _soft_reason(self) -> str:
        """Which soft materials it has, and who says so."""
        soft = [item for item in self.materials.items if item.material.is_soft]
        if not soft:
            return "it is simulated as elastic"
        best = max(soft, key=lambda item: len(item.region.faces))
        return f"it is of {best.material.name} ({best.reason})"

    # What is written.

    def exported(self) -> Asset:
        """What is written and drawn of it: joints or motion of its file, else the joints of its plan."""
        asset = self.asset
        if asset.articulation is None and not asset.clips:
            return self.articulated()
        return replace(asset, materials=self.field_on(self.mesh))

    def painted(self) -> Asset:
        """The object with physically based surfaces of its materials on all regions that have no pictures."""
        from neurok.inference.material_drawing import paint

        return paint(self.asset, self.materials)

    def articulated(self, plan: BodyPlan | None = None) -> Asset:
        """The object with its materials and joints, or on bones where it bends and has no joint."""
        return self.boned(plan or self.plan) or self.jointed(plan or self.plan)

    def jointed(self, plan: BodyPlan) -> Asset:
        """The object with its materials and all joints of a plan."""
        joints = self.joints_of(plan)
        field = self.field_on(joints.mesh)
        return replace(self.asset, mesh=joints.mesh, clips=(), articulation=joints, materials=field)

    def boned(self, plan: BodyPlan) -> Asset | None:
        """What bends and has no joint, on bones found from its surface, with a clip that shows them; else ``None``."""
        if not plan.bends or plan.articulation.dof:
            return None
        space = skeleton_space(self.mesh)
        if space is None:
            return None
        shown = clip_of(space, through_states(space.sample(SHOWN_STATES)), name="bones")
        return replace(self.asset, clips=(shown,), articulation=None)

    # The same object, known better.

    def with_plan(self, plan: BodyPlan | None) -> Model:
        """The same object with a plan that counts."""
        return self._kept(replace(self, given_plan=plan), "materials", "study", "network", "_tracks")

    def with_materials(self, given: Mapping[str, str | Material]) -> Model:
        """The same object with these materials named."""
        return self._kept(replace(self, given_materials=_materials(given)), "study", "network", "_tracks")

    def in_frame(self, up: UpAxis, unit: float) -> Model:
        """The same object in another frame."""
        if (up, unit) == (self.mesh.up, self.mesh.unit):
            return self
        return self._kept(replace(self, asset=self.asset.in_frame(up, unit)), "network")

    def _kept(self, other: Model, *names: str) -> Model:
        """The other model with what this one has worked out already and what holds for both."""
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})
        return other


Thing = Mesh | Asset | Model | str | Path
"""What a verb takes: an object, what is known of it, or what ``neurok.load`` reads."""


def understand(
    thing: Thing,
    *,
    parts: PartsFrom | Int[np.ndarray, " N"] | None = None,
    plan: BodyPlan | str | Path | None = None,
    materials: Mapping[str, str | Material] | str | Path | None = None,
    method: Method | None = None,
    weights: Weights | None = None,
    unit: float | str | None = None,
    up: str | None = None,
    mass: float | None = None,
    hollow: bool | None = None,
    thickness: float | None = None,
    nodes: Sequence[str] = (),
    interior: bool | None = None,
) -> Model:
    """What an object is, decided once: its frame, parts, joints and materials. Nothing is computed before it is asked.

    Args:
        thing: A mesh, an asset, what ``neurok.load`` reads, or a model, which is then changed by what is given.
        parts: ``file`` keeps parts that the file names (the default); ``pieces`` groups connected pieces as for a raw
            mesh; or a label for each face or vertex.
        plan: A plan, or the file of one, that counts over joints of the file.
        materials: What parts are made of, by name; or a file as ``neurok materials`` writes it. What is not named is
            proposed from evidence.
        method: ``search`` asks geometry alone for joints, ``learned`` needs weights, ``auto`` takes them where there
            are any.
        weights: Networks to ask instead of the shipped ones.
        unit: Of the file, by name or in metres; by default as the file says, unless that is surely wrong.
        up: The axis that points up; by default as the file says, or a sure guess.
        mass: Of the whole object [kg], where somebody knows it; by default estimated.
        hollow: Whether closed surfaces are hollow (or solid); by default as their materials and such things are.
        thickness: Of walls and sheets [m].
        nodes: Which nodes of a file are the object, as for ``neurok.load``.
        interior: Whether parts that are cut out of a closed surface get an inside; they do by default.
    """
    changes: dict[str, Any] = {"parts": parts, "given_plan": plan, "method": method, "weights": weights}
    if (mass, hollow, thickness) != (None, None, None):
        changes["weighing"] = Weighing(mass, hollow, thickness)
    changes["interior"] = interior
    if isinstance(materials, str | Path):
        changes["materials_file"] = materials
    elif materials:
        changes["given_materials"] = _materials(materials)
    changes = {name: value for name, value in changes.items() if value is not None}
    if isinstance(thing, Model):
        return replace(thing, **changes) if changes else thing
    asset, notes = _framed(thing, unit, up, nodes)
    return Model(asset, notes=notes, **changes)


def _framed(
    thing: Mesh | Asset | str | Path, unit: float | str | None, up: str | None, nodes: Sequence[str]
) -> tuple[Asset, tuple[str, ...]]:
    """The object in the frame that is given or surely right, and a sentence for each guess."""
    from neurok.doctor.frame import framed, parse_unit, parse_up
    from neurok.io.nodes import chosen, sentence

    stated = True  # what is in memory has the frame that it says
    if isinstance(thing, str | Path):
        from neurok.io import load
        from neurok.io.formats import states_frame

        asset, stated = load(thing, nodes=nodes), states_frame(str(thing))
    else:
        asset = Asset(thing) if isinstance(thing, Mesh) else thing
        asset = chosen(asset, nodes) if nodes else asset
        if unit is None and up is None:
            return asset, ()
    metres = parse_unit(str(unit)) if unit is not None else None
    found = framed(asset, is_stated=stated, unit=metres, up=None if up is None else parse_up(up))
    return found.asset, (*filter(None, [sentence(asset)]), *found.notes)


def _materials(given: Mapping[str, str | Material]) -> dict[str, Material]:
    return {name: material(one) if isinstance(one, str) else one for name, one in given.items()}
