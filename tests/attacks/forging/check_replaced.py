# Replaces the course's own check and all that it is made of by things that pass. The judge runs in another process.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
import attnlab
import attnlab.checking
import attnlab.examine
import attnlab.notebook
from attnlab.verdict import CheckResult, Verdict


def passed(check, trial, **_):
    return CheckResult(check.name, Verdict.PASSED, points=check.points, max_points=check.points)


for module in (attnlab.checking, attnlab.examine):
    module.run_check = passed
    module.checks_in = lambda *_: ()
check = attnlab.check = lambda function: 4.0
