# Signs messages with the kernel's own key: replies to requests never made, outputs of other cells, a shutdown.
#
# prints: sent 6

# %% after="causal_mask"
kernel = get_ipython().kernel
session, publisher = kernel.session, kernel.iopub_socket
forged = [
    ("status", {"execution_state": "idle"}),
    ("execute_reply", {"status": "ok", "execution_count": 99, "user_expressions": {}}),
    ("execute_result", {"data": {"text/plain": "1000"}, "metadata": {}, "execution_count": -1}),
    ("shutdown_reply", {"status": "ok", "restart": False}),
    ("comm_open", {"comm_id": "x", "target_name": "jupyter.widget", "data": {}}),
    ("error", {"ename": 1, "evalue": None, "traceback": "x"}),
]
for kind, content in forged:
    for parent in (kernel.get_parent(), {"header": {"msg_id": "other"}}, {}, None):
        session.send(publisher, kind, content, parent=parent)

# %% last
print("sent", len(forged))  # a cell that says itself that it is over may lose what it prints after
