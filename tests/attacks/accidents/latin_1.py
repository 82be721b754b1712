# Saved in Latin-1, with words that are not UTF-8 then.
#
# prints: Größe

# %% last
print("Größe")

# %% bytes
import json

data = json.dumps(notebook, ensure_ascii=False).encode("latin-1", "replace")
