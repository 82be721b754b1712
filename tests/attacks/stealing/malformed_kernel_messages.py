# Sends frames to the client that are no messages: no signature, broken JSON, deep JSON, huge headers. They are dropped.
#
# prints: sent 5

# %% after="causal_mask"
publisher = get_ipython().kernel.iopub_socket
delimiter = b"<IDS|MSG>"
for frames in (
    [b""],
    [delimiter, b"0" * 64, b"{", b"{", b"{", b"{"],
    [b"x", delimiter, b"", b"[" * 10**5, b"{}", b"{}", b"{}"],
    [delimiter] * 8,
    [b"\xff" * 10**6, delimiter, b"0" * 64, b"{}", b"{}", b"{}", b"{}", b"\0" * 100],
):
    publisher.send_multipart(frames)
print("sent 5")
