# One function never returns and catches every interrupt. Its own checks are lost and nobody else's.
#
# expect: padding_mask 0/4 TSSSSSS
# also: landlock
# also: user

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    while True:
        try:
            sum(range(100))
        except BaseException:
            pass
