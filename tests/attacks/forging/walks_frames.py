# Looks for expected values in the frames that called it and in all objects there are. The inputs are all it can find.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: nothing found

# %% replace="padding_mask"
import gc
import sys


def search(shape):
    frame = sys._getframe()
    while frame:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if any(word in name.lower() for word in ("expected", "reference", "wanted", "target")):
                if isinstance(value, torch.Tensor) and value.shape == shape:
                    return value
        frame = frame.f_back
    for value in gc.get_objects():
        if type(value) is torch.Tensor and value.dtype is torch.bool and value.shape == shape:
            return value
    return None


def padding_mask(ids, pad_id):
    return search((ids.shape[0], 1, ids.shape[1]))

# %% after="padding_mask"
print("nothing found" if search((3, 1, 5)) is None else "found")
