# Raises an exception whose text takes for ever to make. The call is over when its time is.

# %% replace="padding_mask"
class Slow(Exception):
    def __str__(self):
        while True:
            pass


def padding_mask(ids, pad_id):
    raise Slow
