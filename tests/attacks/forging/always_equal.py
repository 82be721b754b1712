# Returns an object that equals everything, has every attribute and does all arithmetic. It is no tensor, so no points.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
class Right:
    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return Right()

    def __call__(self, *args, **kwargs):
        return True

    def __bool__(self):
        return True

    __hash__ = None
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __le__ = __ge__ = __eq__
    __sub__ = __rsub__ = __add__ = __abs__ = __getitem__ = lambda self, *_: Right()


def padding_mask(ids, pad_id):
    return Right()
