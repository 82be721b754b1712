"""Pictures that answer: widgets of attention, drawn from what the learner's own functions compute."""

from attnlab.widgets.blocks import block_trace
from attnlab.widgets.contrast import contrast_view
from attnlab.widgets.cross import cross_view
from attnlab.widgets.heads import attention_view
from attnlab.widgets.leaks import leak_probe
from attnlab.widgets.masks import mask_lab
from attnlab.widgets.recorder import recorded_attention
from attnlab.widgets.shifts import shift_view
from attnlab.widgets.steps import decode_stepper
from attnlab.widgets.translation import recorded_translation

__all__ = [
    "attention_view",
    "block_trace",
    "contrast_view",
    "cross_view",
    "decode_stepper",
    "leak_probe",
    "mask_lab",
    "recorded_attention",
    "recorded_translation",
    "shift_view",
]
