# Hands in a link to somebody's file in place of a notebook. Links are not followed.
#
# expect: ungraded link

# %% folder
file.unlink()
file.symlink_to("$SECRET")
