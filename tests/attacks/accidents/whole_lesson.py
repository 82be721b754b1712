# The lesson as it should be, with all its text, examples and pictures.
#
# base: whole
