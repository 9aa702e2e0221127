"""From objects and physical conditions to motion."""

from neurok.dynamics.body import Body as Body
from neurok.dynamics.condition import Condition as Condition
from neurok.dynamics.condition import Drag as Drag
from neurok.dynamics.condition import Force as Force
from neurok.dynamics.condition import Ground as Ground
from neurok.dynamics.condition import Impulse as Impulse
from neurok.dynamics.condition import Obstacle as Obstacle
from neurok.dynamics.condition import Pin as Pin
from neurok.dynamics.condition import Start as Start
from neurok.dynamics.condition import VertexValues as VertexValues
from neurok.dynamics.condition import Wind as Wind
from neurok.dynamics.condition import World as World
from neurok.dynamics.engine import Engine as Engine
from neurok.dynamics.engine import Run as Run
from neurok.dynamics.engine import Settings as Settings
from neurok.dynamics.simulate import simulate as simulate
from neurok.dynamics.simulate import simulate_together as simulate_together
from neurok.dynamics.simulate import start as start
