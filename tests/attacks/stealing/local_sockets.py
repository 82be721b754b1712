# Calls Unix sockets of this machine, one in a file open to everybody, one without a file. Neither is there for it.
#
# prints: reached: []

# %% last
import socket

reached = []
for address in ("$SOCKET", "\0$ABSTRACT"):
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(address)
            reached.append(address)
    except OSError:
        pass
print("reached:", reached)
