#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The digit network from weights.json in plain NumPy, as floats and as the integers of NVDLA.

Run as a program it classifies the held-out pictures both ways and prints how often the two
agree and how often the integers are right. Needs only python3-numpy and python3-pil: no fonts.
"""

import json
import os
import pathlib
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from PIL import Image

import weights_file

HERE = pathlib.Path(__file__).resolve().parent


def convolve(x, weights, stride, padding, pad_value):
    """N x C x H x W with weights K x C x R x S, by definition; keeps the type of x."""
    top, bottom, left, right = (padding[side] for side in ("top", "bottom", "left", "right"))
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=pad_value)
    rows = (x.shape[2] - weights.shape[2]) // stride["y"] + 1
    cols = (x.shape[3] - weights.shape[3]) // stride["x"] + 1
    out = np.zeros((x.shape[0], weights.shape[0], rows, cols), x.dtype)
    for r in range(weights.shape[2]):
        for s in range(weights.shape[3]):
            tap = x[:, :, r : r + stride["y"] * rows : stride["y"], s : s + stride["x"] * cols : stride["x"]]
            out += np.einsum("nchw,kc->nkhw", tap, weights[:, :, r, s], optimize=True)
    return out


def saturate(value, bits):
    return np.clip(value, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def round_half_away(value, shift):
    """value / 2^shift, ties away from zero, in exact integers."""
    if shift == 0:
        return value
    magnitude = (np.abs(value) + (1 << (shift - 1))) >> shift
    return np.where(value < 0, -magnitude, magnitude)


def integer_layer(layer, x):
    """int8 values (in int64) to int8 values: convolution, SDP X1, output converter."""
    numbers = layer["int8"]
    v = convolve(x, numbers["weights"], layer["stride"], layer["padding"], layer["padding"]["value"])
    v = saturate(v, 32)  # CACC delivery, CLIP_TRUNCATE 0
    operand = saturate(numbers["bias"] << layer["bias_shift"], 32)
    v = saturate(v + operand[:, np.newaxis, np.newaxis], 32)  # X1, MUL bypassed
    if layer["relu"]:
        v = np.maximum(v, 0)
    out = layer["output_converter"]
    product = (v - out["offset"]) * out["scale"]  # at most 33 + 15 bits: int64 is exact
    return saturate(saturate(round_half_away(product, out["shift"]), 17), 8)


def float_layer(layer, x):
    numbers = layer["float"]
    pad = np.float32(layer["padding"]["value"] * layer["input_scale"])
    v = convolve(x, numbers["weights"], layer["stride"], layer["padding"], pad)
    v = v + numbers["bias"][:, np.newaxis, np.newaxis]
    return np.maximum(v, 0) if layer["relu"] else v


def encode(pictures, content):
    """uint8 pixels to the int8 input of the network."""
    return pictures.astype(np.int64)[:, np.newaxis] - content["input"]["offset"]


def integer_scores(content, pictures):
    x = encode(pictures, content)
    for layer in content["layers"]:
        x = integer_layer(layer, x)
    return x.reshape(len(pictures), -1)


def float_scores(content, pictures):
    x = encode(pictures, content).astype(np.float32) * np.float32(content["input"]["scale"])
    for layer in content["layers"]:
        x = float_layer(layer, x)
    return x.reshape(len(pictures), -1)


def held_out(folder):
    """The pictures of the sheet, row by row, and their labels."""
    about = json.loads((folder / "held_out.json").read_text())
    side, columns = about["side"], about["columns"]
    sheet = np.asarray(Image.open(folder / "held_out.png").convert("L"))
    labels = np.array([int(c) for c in about["labels"]])
    pictures = sheet.reshape(-1, side, columns, side).transpose(0, 2, 1, 3).reshape(-1, side, side)
    return pictures[: len(labels)], labels


def report(content, pictures, labels, log=print):
    """Prints the two figures; returns the int8 scores."""
    scores = integer_scores(content, pictures)
    whole, exact = scores.argmax(axis=1), float_scores(content, pictures).argmax(axis=1)
    ordered = np.sort(scores, axis=1)
    log(f"pictures                      {len(labels)}")
    log(f"float network right           {100 * np.mean(exact == labels):.1f} %")
    log(f"int8 network right            {100 * np.mean(whole == labels):.1f} %")
    log(f"int8 class == float class     {100 * np.mean(whole == exact):.1f} %")
    log(f"ties for the best int8 score  {int(np.sum(ordered[:, -1] == ordered[:, -2]))}")
    return scores


def main():
    content = weights_file.load(HERE / "weights.json")
    pictures, labels = held_out(HERE)
    scores = report(content, pictures, labels)
    kept = np.array(json.loads((HERE / "held_out_scores.json").read_text())["scores"])
    if not np.array_equal(kept, scores):
        sys.exit("held_out_scores.json differs from these scores: run train.py again")
    print("held_out_scores.json          current")
    for path in sorted((HERE / "images").glob("*.png")):
        picture = np.asarray(Image.open(path).convert("L"))[np.newaxis]
        row = integer_scores(content, picture)[0]
        print(f"{path.name:40} {row.argmax()}  score {row.max()}")


if __name__ == "__main__":
    main()
