# Shows 500 pieces of HTML and clears and replaces them. Shown is what a notebook may store.
#
# prints: the last of them

# %% last
from IPython.display import HTML, clear_output, display

handle = display(HTML("x"), display_id=True)
for number in range(250):
    display(HTML("<b>z</b>" * 100))
    handle.update(HTML(str(number)))
    if number % 50 == 0:
        clear_output()
clear_output()
print("the last of them")
