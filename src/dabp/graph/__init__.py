"""The factor graph that message passing runs on, and what a problem's graph looks like: components, orders, layouts."""

from dabp.graph.factor_graph import FactorGraph as FactorGraph
from dabp.graph.factor_graph import FactorGroup as FactorGroup
