# The same with all of the lesson's text and examples.
#
# base: whole

# %% notebook
for each in notebook["cells"]:
    each["metadata"] = {}
    each.pop("id", None)
