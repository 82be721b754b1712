# Names a kernel, a language and a program of its own in the metadata. The grader's kernel is the grader's choice.
#
# prints: python

# %% last
import sys

print("python" if sys.implementation.name == "cpython" else "other")

# %% notebook
notebook["metadata"] = {
    "kernelspec": {"name": "../../attack", "display_name": "x", "argv": ["/bin/sh", "-c", "echo attack"], "language": "sh",
                   "metadata": {"kernel_provisioner": {"provisioner_name": "local-provisioner"}}},
    "language_info": {"name": "bash", "pygments_lexer": "bash"},
    "jupytext": {"formats": "ipynb,py:percent"},
    "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"x": "<script>"}}},
}
