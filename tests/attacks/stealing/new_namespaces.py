# Tries to get rights that it was not born with: namespaces, mounts, another root, other users, programs with more rights.
#
# prints: got: []

# %% last
import ctypes
import os
import subprocess

libc = ctypes.CDLL(None, use_errno=True)
tries = {
    "user namespace": lambda: libc.unshare(0x10000000),
    "mount namespace": lambda: libc.unshare(0x00020000),
    "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
    "chroot": lambda: libc.chroot(b"."),
    "setuid": lambda: libc.setuid(0) if os.getuid() else -1,
    "setgid": lambda: libc.setgid(0) if os.getgid() else -1,
    "device": lambda: libc.mknod(b"device", 0o60666, 0x0800),
    "module": lambda: libc.syscall(175, None, 0, b""),
    "bpf": lambda: libc.syscall(321, 0, None, 0),
    "io_uring": lambda: libc.syscall(425, 1, None),
    "keyring": lambda: libc.syscall(248, b"user", b"attack", b"x", 1, -3),
    "shared memory": lambda: libc.shmget(0, 4096, 0o1666),
    "su": lambda: subprocess.run("su -c id || sudo -n id", shell=True, capture_output=True).returncode,
}
print("got:", [name for name, attempt in tries.items() if attempt() in (0, 1 << 20)])
