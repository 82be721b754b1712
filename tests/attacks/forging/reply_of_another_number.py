# Answers every call with the number of another one, to be believed later. The exercise ends there; the next one is asked.
#
# expect: padding_mask 0/4 EEEESSS

# %% last
import sys

agent = sys.modules["grader.sandbox.agent"].Agent
original = agent._answer


def forged(self, call):
    reply = original(self, call)
    return (reply[0] + 1, *reply[1:]) if call["name"] == "padding_mask" else reply


agent._answer = forged
