# Loops for ever and catches every interrupt. Its kernel is ended; the other cells run in a fresh one.
#
# also: landlock
# prints: not to be interrupted

# %% after="causal_mask"
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
