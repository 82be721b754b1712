# Mixed tabs and blanks, with blanks that are no blanks, and typographic quotation marks in one answer.
#
# expect: padding_mask 0/4 EEEESSS
# prints: SyntaxError

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
	mask = ids != pad_id
        return mask[:, None, :]

# %% last
print(“hello”)
