# Sets torch to more threads than there are cores and its default tensors to an odd dtype. Right answers are right with those.

# %% last
torch.set_num_threads(16)
torch.set_default_dtype(torch.float16)
