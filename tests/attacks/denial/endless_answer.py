# One function never returns. Its own checks are lost and nobody else's.
#
# expect: padding_mask 0/4 TSSSSSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    while True:
        pass
