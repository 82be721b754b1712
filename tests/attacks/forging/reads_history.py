# Looks up the next cells' text in the history and in its own frames. Only what has run is there, and no test's values.
#
# expect: padding_mask 0/4 EEEESSS
# prints: seen True

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    text = "\n".join(In)
    return eval(text.rsplit("expected = ", 1)[1].splitlines()[0])

# %% before="padding_mask"
print("seen", any("def causal_mask" in cell for cell in In))
