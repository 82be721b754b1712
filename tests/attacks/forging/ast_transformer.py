# Has IPython turn every call of check into a number. Nothing that a cell evaluates to is read.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
import ast


class Forger(ast.NodeTransformer):
    def visit_Call(self, node):
        return ast.copy_location(ast.Constant(1000.0), node) if ast.unparse(node).startswith("check") else node


get_ipython().ast_transformers.append(Forger())
