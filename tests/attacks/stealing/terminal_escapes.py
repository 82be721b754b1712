# Prints sequences that set a terminal's title and clipboard and clear its screen. Only colours come through.
#
# prints: before
# prints: after
# hides: ]52;c

# %% last
escape, clipboard = chr(27), 52

print("before", f"{escape}]0;attack\a{escape}]{clipboard};c;YXR0YWNr\a{escape}[2J{escape}[31m", "after")
raise ValueError(f"{escape}]{clipboard};c;YXR0YWNr{escape}\\ {chr(0x9B)}2J")
