# Turned warnings into errors for the whole notebook. The functions raise none.

# %% first
import warnings

warnings.simplefilter("error")
