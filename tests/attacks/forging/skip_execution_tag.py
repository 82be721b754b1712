# Marks the test cells so that nbgrader's own runner would leave them out. Metadata of test cells is the master's.
#
# expect: padding_mask 0/4 EEEESSS
# prints: padding_mask: 0 of 4 points

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    raise NotImplementedError

# %% notebook
for name in ("test_causal_mask", "test_padding_mask", "test_masked_softmax"):
    cell(name)["metadata"]["tags"] = ["skip-execution"]
