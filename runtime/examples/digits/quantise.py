# SPDX-License-Identifier: MIT
"""Turns the float layers into the integers that NVDLA's convolution and SDP take.

Symmetric, one weight scale a layer:

    real input   = int8 input  * input_scale
    real weight  = int8 weight * weight_scale
    accumulator  = real / (input_scale * weight_scale), int32
    bias         = int16 << bias_shift, in accumulator units   (SDP X1, ALU SUM, per channel)
    int8 output  = accumulator * scale / 2^shift               (output converter)
"""

import numpy as np


def weight_scale(weights):
    """The scale with the least square error; clipping a few outliers often buys precision."""
    largest = float(np.abs(weights).max())
    best = None
    for clip in np.linspace(0.6, 1.0, 41):
        scale = largest * clip / 127.0
        error = np.square(np.clip(np.rint(weights / scale), -127, 127) * scale - weights).sum()
        if best is None or error < best[0]:
            best = (error, scale)
    return best[1]


def bias_operand(bias, accumulator_scale):
    """int16 operands and the smallest shift that holds the largest of them."""
    wanted = bias.astype(np.float64) / accumulator_scale
    for shift in range(0, 17):
        operand = np.rint(wanted / (1 << shift))
        if np.abs(operand).max() <= 32767:
            return operand.astype(np.int64), shift
    raise OverflowError("a bias does not fit 32 bits: the scales are wrong")


def converter(ratio):
    """(scale, shift) of the output converter: the most precise int16 scale >= 1."""
    for shift in range(63, -1, -1):
        scale = int(np.rint(ratio * 2.0**shift))
        if 1 <= scale <= 32767:
            return scale, shift
    raise OverflowError(f"output converter cannot multiply by {ratio}")


def layer(weights_kcrs, bias, input_scale, output_scale):
    w_scale = weight_scale(weights_kcrs)
    operand, bias_shift = bias_operand(bias, input_scale * w_scale)
    scale, shift = converter(input_scale * w_scale / output_scale)
    return {
        "weight_scale": w_scale,
        "weights": np.clip(np.rint(weights_kcrs / w_scale), -127, 127).astype(np.int64),
        "bias": operand,
        "bias_shift": bias_shift,
        "scale": scale,
        "shift": shift,
    }
