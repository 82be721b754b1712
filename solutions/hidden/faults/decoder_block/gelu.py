"""Named faults of `gelu`."""

from __future__ import annotations

from attnlab.fault import Fault, fault

_INNER = "inner = math.sqrt(2.0 / math.pi) * (u + 0.044715 * u**3)"
_GELU = "return 0.5 * u * (1.0 + torch.tanh(inner))"

FAULTS: tuple[Fault, ...] = (
    fault(
        "gelu_erf", "gelu", _GELU, "return 0.5 * u * (1.0 + torch.erf(u / math.sqrt(2.0)))",
        words="the exact GELU with erf was used, the library's default",
        help="The tanh form: 0.5u(1 + tanh(sqrt(2/pi)(u + 0.044715u^3))).",
        symptom="Right to three digits; near u = -3 it gives -0.00405 instead of -0.00364.",
    ),
    fault(
        "gelu_relu", "gelu", _GELU, "return torch.relu(u)",
        words="ReLU stood in the place of GELU",
        help="GELU is smooth and slightly negative below 0.",
        symptom="No entry is negative.",
    ),
    fault(
        "gelu_sigmoid", "gelu", _GELU, "return u * torch.sigmoid(1.702 * u)",
        words="GELU was approximated by u * sigmoid(1.702u)",
        help="Use the tanh form.",
        symptom="Off in the second digit.",
    ),
    fault(
        "gelu_silu", "gelu", _GELU, "return u * torch.sigmoid(u)",
        words="SiLU, u * sigmoid(u), stood in the place of GELU",
        help="Use the tanh form of GELU.",
        symptom="Too slow a step around 0.",
    ),
    fault(
        "gelu_without_half", "gelu", _GELU, "return u * (1.0 + torch.tanh(inner))",
        words="the factor 0.5 was missing",
        help="0.5 * u * (1 + tanh(...)): 1 + tanh goes up to 2.",
        symptom="Everything is twice as large.",
    ),
    fault(
        "gelu_without_one", "gelu", _GELU, "return 0.5 * u * torch.tanh(inner)",
        words="the 1 beside tanh was missing",
        help="1 + tanh goes from 0 to 2; tanh alone from -1 to 1.",
        symptom="It is even: u and -u give the same.",
    ),
    fault(
        "gelu_without_u", "gelu", _GELU, "return 0.5 * (1.0 + torch.tanh(inner))",
        words="the gate was returned without u in front",
        help="The gate multiplies u.",
        symptom="All values lie between 0 and 1.",
    ),
    fault(
        "gelu_without_cube", "gelu", _INNER, "inner = math.sqrt(2.0 / math.pi) * u",
        words="the cubic term was missing",
        help="u + 0.044715u^3 inside.",
        symptom="Off in the second digit around u = 2.",
    ),
    fault(
        "gelu_square", "gelu", "u**3", "u**2",
        words="u was squared instead of cubed",
        help="u**3.",
        symptom="Positive entries nearly right, negative ones not.",
    ),
    fault(
        "gelu_cube_outside", "gelu", _INNER, "inner = math.sqrt(2.0 / math.pi) * u + 0.044715 * u**3",
        words="sqrt(2/pi) multiplied u alone and not the cubic term",
        help="It stands before the bracket: sqrt(2/pi) * (u + 0.044715 * u**3).",
        symptom="Off in the third digit around u = 2.",
    ),
    fault(
        "gelu_root_missing", "gelu", "math.sqrt(2.0 / math.pi)", "(2.0 / math.pi)",
        words="2/pi was used without its root",
        help="sqrt(2/pi) is 0.798, 2/pi is 0.637.",
        symptom="Too slow a step around 0.",
    ),
    fault(
        "gelu_root_upside_down", "gelu", "math.sqrt(2.0 / math.pi)", "math.sqrt(math.pi / 2.0)",
        words="the root was that of pi/2",
        help="sqrt(2/pi) is 0.798, sqrt(pi/2) is 1.253.",
        symptom="Too fast a step around 0.",
    ),
    fault(
        "gelu_ten_times_cube", "gelu", "0.044715 * u**3", "0.44715 * u**3",
        words="the factor of the cube was 0.44715",
        help="0.044715.",
        symptom="Too fast a step around 1.",
    ),
    fault(
        "gelu_by_exponentials", "gelu", _GELU,
        "return 0.5 * u * (1.0 + (torch.exp(2 * inner) - 1) / (torch.exp(2 * inner) + 1))",
        words="tanh was written as a quotient of exponentials that overflow",
        help="torch.tanh is exact for any size.",
        symptom="NaN for large positive entries.",
    ),
    fault(
        "gelu_in_place", "gelu", _GELU, "return u.mul_(0.5 * (1.0 + torch.tanh(inner)))",
        words="the result was written over u",
        help="mul_ and *= write into the tensor you were given.",
        symptom="The output is right, but afterwards u holds it too.",
    ),
    fault(
        "gelu_single_precision", "gelu", _GELU, "return (0.5 * u * (1.0 + torch.tanh(inner))).float()",
        words="GELU always gave float32",
        help="Leave the dtype as it is.",
        symptom="float64 in, float32 out.",
    ),
)  # fmt: skip
