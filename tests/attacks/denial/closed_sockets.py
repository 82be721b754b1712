# Closes the kernel's own sockets in a cell. Outputs are lost with that kernel; the cells after run in a fresh one.

# %% after="causal_mask"
get_ipython().kernel.iopub_thread.socket.close()
get_ipython().kernel.shell_streams = []
