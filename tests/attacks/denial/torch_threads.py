# Sets torch to a thousand threads and its default tensors to an odd dtype and device. Right answers are right with those.
#
# expect: masked_softmax 2/8 ..EEEEEEE

# %% last
torch.set_num_threads(1000)
torch.set_default_dtype(torch.float16)
