# Opens kinds of sockets that a private network does not cover: to the hypervisor, to the kernel, to the wire.
#
# prints: opened: []

# %% last
import socket

opened = []
for name in ("AF_VSOCK", "AF_ALG", "AF_PACKET", "AF_NETLINK", "AF_BLUETOOTH", "AF_CAN", "AF_TIPC", "AF_QIPCRTR"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            socket.socket(getattr(socket, name, 99), kind).close()
            opened.append(name)
        except OSError:
            pass
print("opened:", opened)
