"""Pictures that answer: widgets of attention, drawn from what the learner's own functions compute."""

from attnlab.widgets.heads import attention_view
from attnlab.widgets.masks import mask_lab
from attnlab.widgets.recorder import recorded_attention

__all__ = ["attention_view", "mask_lab", "recorded_attention"]
