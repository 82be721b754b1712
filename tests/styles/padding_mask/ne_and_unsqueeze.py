"""Methods in place of operators."""


def padding_mask(ids, pad_id):
    return ids.ne(pad_id).unsqueeze(1)
