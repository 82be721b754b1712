# Closes the kernel's own sockets in a cell. Outputs are lost from then on; its answers are asked and earn.

# %% after="causal_mask"
get_ipython().kernel.iopub_thread.socket.close()
get_ipython().kernel.shell_streams = []
