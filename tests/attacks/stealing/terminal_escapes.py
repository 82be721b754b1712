# Prints sequences that set a terminal's title and clipboard and clear its screen. Only colours come through.
#
# prints: before
# prints: after
# hides: ]52;c

# %% last
import sys

print("before", "\x1b]0;attack\x07\x1b]52;c;YXR0YWNr\x07\x1b[2J\x1b[31m\x1b[0m", "after")
raise ValueError("\x1b]52;c;YXR0YWNr\x1b\\ \x9b2J")
