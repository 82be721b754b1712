# Saved with the line ends of Windows, in the file and in the cells.

# %% bytes
data = data.replace(b"\\n", b"\\r\\n").replace(b"\n", b"\r\n")
