# Draws progress bars, by carriage returns, by clearing, and by a widget. All that stays is the last state.
#
# prints: 100 %

# %% last
import time

from IPython.display import clear_output

for number in range(101):
    print(f"\r{number} %", end="")
    time.sleep(0.001)

# %% last
for number in range(101):
    clear_output(wait=True)
    print(number, "%")

# %% last
import ipywidgets

bar = ipywidgets.IntProgress(max=10)
display(bar)
for number in range(11):
    bar.value = number
