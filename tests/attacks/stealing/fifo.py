# Hands in a fifo, which whoever opens it waits for. It is not opened.
#
# expect: ungraded plain file

# %% folder
import os

file.unlink()
os.mkfifo(file)
