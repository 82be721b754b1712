# A right answer that writes over its inputs. It loses that clause and no other.
#
# expect: masked_softmax 7.5/8 .......F.

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    if allowed is not None:
        scores.masked_fill_(~allowed, -torch.inf)
    top = scores.amax(-1, keepdim=True)
    weights = torch.exp(scores - top.masked_fill(top == -torch.inf, 0))
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)
