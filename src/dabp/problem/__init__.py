"""What is solved: `Problem`, the one definition of cost, and all that follows from its columns alone."""

from dabp.problem.problem import Assignment as Assignment
from dabp.problem.problem import Problem as Problem
from dabp.problem.views import Factor as Factor
from dabp.problem.views import FactorCost as FactorCost
from dabp.problem.views import Label as Label
from dabp.problem.views import Variable as Variable
