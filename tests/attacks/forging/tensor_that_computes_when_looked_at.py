# A subclass of tensor without memory of its own, which would compute its entries when compared. It cannot be sent.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
class Later(torch.Tensor):
    @staticmethod
    def __new__(cls, size):
        return torch.Tensor._make_wrapper_subclass(cls, size, dtype=torch.bool)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.tensor(True)


def padding_mask(ids, pad_id):
    return Later((ids.shape[0], 1, ids.shape[1]))
