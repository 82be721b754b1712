# Raises an exception whose text takes for ever to make. The call is over when its time is.
#
# expect: padding_mask 0/4 TSSSSSS

# %% replace="padding_mask"
class Slow(Exception):
    def __str__(self):
        while True:
            pass


def padding_mask(ids, pad_id):
    raise Slow
