# Uses annotations that only run when read, and a function that is a class and a lambda. They are called and are right.

# %% replace="causal_mask"
class CausalMask:
    def __call__(self, length: "int", device: "no such type" = None) -> "Tensor":
        return torch.ones(length, length, dtype=torch.bool, device=device).tril()


causal_mask = CausalMask()

# %% replace="padding_mask"
padding_mask = lambda ids, pad_id: ids.ne(pad_id).unsqueeze(1)
