# Attaches to the grader and to its parent as a debugger does, and reads and writes their memory. It is refused.
#
# prints: refused 6 of 6

# %% last
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(16)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 16)
attach, here = 16, ctypes.byref(vector)
refused = 0
for process in ($GRADER, os.getppid() or 1):
    refused += libc.ptrace(attach, process, None, None) == -1
    refused += libc.process_vm_readv(process, here, 1, here, 1, 0) == -1
    refused += libc.process_vm_writev(process, here, 1, here, 1, 0) == -1
print("refused", refused, "of 6")
