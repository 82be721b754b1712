# Calls a port of this machine, another machine, and a name server. There is no network.
#
# prints: reached: []

# %% last
import socket
import urllib.request

reached = []
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", $PORT)),
    (socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("::1", $PORT)),
):
    try:
        with socket.socket(family, kind) as end:
            end.settimeout(0.3)
            end.connect(address)
            reached.append(address)
    except OSError:
        pass
for url in ("http://127.0.0.1:$PORT/", "http://localhost:$PORT/"):
    try:
        urllib.request.urlopen(url, timeout=0.3)
        reached.append(url)
    except OSError:
        pass
print("reached:", reached)
