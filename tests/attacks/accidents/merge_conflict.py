# Left the marks of a merge conflict in the file.
#
# expect: ungraded not JSON

# %% bytes
data = data.replace(b'"cells": [', b'<<<<<<< HEAD\n"cells": [\n=======\n"cells": [\n>>>>>>> mine\n', 1)
