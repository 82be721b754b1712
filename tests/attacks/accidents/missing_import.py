# Imports a package that is not installed here, in a cell of its own. The cell is an error and costs nothing else.
#
# prints: ModuleNotFoundError

# %% first
import a_package_that_nobody_has
import torch.nn as nn
