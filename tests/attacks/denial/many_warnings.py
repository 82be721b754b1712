# Warns a hundred thousand times, in different words. Standard error costs nothing and is cut.
#
# prints: left out

# %% last
import warnings

warnings.simplefilter("always")
for number in range(10**5):
    warnings.warn(f"number {number}")
