# Handed in another lesson's notebook under this one's name.
#
# expect: ungraded It holds the exercises of 03_decoder_block; it was handed in for 01_mask.

# %% bytes
from pathlib import Path

from grader.course import Course
from grader.source import source_notebook, text_of

data = text_of(source_notebook(Course(Path("$COURSE")).lesson("03_decoder_block"))).encode()
