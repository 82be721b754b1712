# Saved in UTF-16, as some editors do when asked for "Unicode".

# %% bytes
data = data.decode().encode("utf-16")
