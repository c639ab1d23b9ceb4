#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes all data of this folder: pictures, float weights, int8 weights.

Needs the packages of packages-train.txt. Deterministic: all random numbers come from the seeds
below, and one thread keeps the order of the floating-point sums.
"""

import argparse
import json
import os
import pathlib

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy loads its BLAS

import numpy as np
from PIL import Image

import dataset
import network
import quantise
import reference
import weights_file
from dataset import Look

HERE = pathlib.Path(__file__).resolve().parent
SEED_TRAIN, SEED_CALIBRATE, SEED_HELD_OUT, SEED_IMAGES, SEED_WEIGHTS = 11, 22, 33, 44, 55
CALIBRATION = 2000
HELD_OUT, COLUMNS = 1000, 40

# The single pictures: file name, family folder, face, digit, look.
IMAGES = (
    ("zero-dejavu-sans", "dejavu", "DejaVuSans", 0, Look()),
    ("one-liberation-serif", "liberation", "LiberationSerif-Regular", 1, Look()),
    ("two-caladea-italic-unseen-face", "crosextra", "Caladea-Italic", 2, Look(height=20)),
    ("three-lato-black-small", "lato", "Lato-Black", 3, Look(height=15)),
    ("four-freemono-bold-shifted", "freefont", "FreeMonoBold", 4, Look(shift_x=-2, shift_y=2)),
    ("five-open-sans-light", "open-sans", "OpenSans-Light", 5, Look(height=21)),
    ("six-roboto-rotated-left", "roboto", "Roboto-Regular", 6, Look(rotation=-15)),
    ("seven-hack-rotated-right-unseen-face", "hack", "Hack-Regular", 7, Look(rotation=15)),
    ("eight-comfortaa-blurred", "comfortaa", "Comfortaa-Bold", 8, Look(blur=0.8)),
    ("nine-inconsolata-noisy-unseen-face", "inconsolata", "Inconsolata", 9, Look(noise=12.0)),
    ("zero-hack-unseen-face", "hack", "Hack-Bold", 0, Look(height=19)),
    ("three-carlito-pale-unseen-face", "crosextra", "Carlito-Regular", 3, Look(ground=70, ink=150)),
    ("five-dejavu-serif-sheared", "dejavu", "DejaVuSerif-Bold", 5, Look(shear=0.25, aspect=1.2)),
    (
        "eight-liberation-narrow-all-distortions",
        "liberation",
        "LiberationSansNarrow-Regular",
        8,
        Look(16.0, 1.2, 2.0, -2.0, 10.0, -0.15, 1, 0.5, 40.0, 190.0, 10.0),
    ),
)


def write_pictures(folder):
    """held_out.png, held_out.json and images/; returns the held-out pictures and labels."""
    families = (dataset.SEEN_FAMILIES, dataset.UNSEEN_FAMILIES)
    pictures, labels, names = dataset.make(HELD_OUT, SEED_HELD_OUT, families)
    side = dataset.SIDE
    sheet = pictures.reshape(-1, COLUMNS, side, side).transpose(0, 2, 1, 3).reshape(-1, COLUMNS * side)
    Image.fromarray(sheet).save(folder / "held_out.png", optimize=True)
    about = {"side": side, "columns": COLUMNS, "labels": "".join(map(str, labels)), "faces": names}
    (folder / "held_out.json").write_text(json.dumps(about, indent=1) + "\n")

    (folder / "images").mkdir(exist_ok=True)
    rng = np.random.default_rng(SEED_IMAGES)
    renderer = dataset.Renderer()
    for name, family, face, digit, look in IMAGES:
        path = next(f for f in dataset.faces({family: ()}) if f.stem == face)
        picture = Image.fromarray(renderer.draw(path, digit, look, rng))
        picture.save(folder / "images" / f"{name}.png", optimize=True)
    return pictures, labels


def describe(geometry, side, input_scale, output_scale, numbers, weights, bias):
    """One layer of weights.json."""
    g = geometry
    out = g.output(side)
    return {
        "name": g.name,
        "input": {"channels": g.channels, "height": side, "width": side},
        "output": {"channels": g.kernels, "height": out, "width": out},
        "kernel": {"count": g.kernels, "channels": g.channels, "height": g.size, "width": g.size},
        "stride": {"x": g.stride, "y": g.stride},
        "padding": {"left": g.before, "top": g.before, "right": g.after, "bottom": g.after, "value": g.pad},
        "relu": g.relu,
        "input_scale": input_scale,
        "weight_scale": numbers["weight_scale"],
        "output_scale": output_scale,
        "bias_shift": numbers["bias_shift"],
        "output_converter": {"offset": 0, "scale": numbers["scale"], "shift": numbers["shift"]},
        "float": {"bias": bias, "weights": weights},
        "int8": {"bias": numbers["bias"], "weights": numbers["weights"]},
    }


def quantise_network(net, pictures):
    """Layers for weights.json; output scales from the largest values of the calibration pictures."""
    x = (network.encode(pictures).astype(np.float32) * np.float32(network.INPUT_SCALE))[..., np.newaxis]
    scale, side, layers = network.INPUT_SCALE, dataset.SIDE, []
    for convolution in net.layers:
        x = convolution.forward(x)
        # The largest value just fits, so the best score does not saturate into a tie. The least
        # score, far below, may: only the best one is of interest.
        output_scale = float(x.max()) / 127.0
        weights = convolution.kcrs()
        numbers = quantise.layer(weights, convolution.bias, scale, output_scale)
        layers.append(
            describe(convolution.geometry, side, scale, output_scale, numbers, weights, convolution.bias)
        )
        scale, side = output_scale, convolution.geometry.output(side)
    return layers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=40000, help="training pictures")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="folder for the results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    seen = (dataset.SEEN_FAMILIES,)
    pictures, labels, _ = dataset.make(options.pictures, SEED_TRAIN, seen)
    print(f"{options.pictures} training pictures rendered", flush=True)
    net = network.train(
        pictures, labels, SEED_WEIGHTS, options.epochs, batch=100, rate=2e-3,
        log=lambda line: print(line, flush=True),
    )

    calibration, _, _ = dataset.make(CALIBRATION, SEED_CALIBRATE, seen)
    header = {
        "input": {"channels": 1, "height": dataset.SIDE, "width": dataset.SIDE,
                  "offset": 128, "scale": network.INPUT_SCALE},
        "classes": [str(digit) for digit in range(10)],
    }
    weights_file.dump(options.out / "weights.json", header, quantise_network(net, calibration))

    pictures, labels = write_pictures(options.out)
    # From the file just written, so that the figures are those of what is committed.
    content = weights_file.load(options.out / "weights.json")
    scores = reference.report(content, pictures, labels)
    rows = ",\n".join("  " + json.dumps(row) for row in scores.tolist())
    (options.out / "held_out_scores.json").write_text('{"scores": [\n' + rows + "\n]}\n")


if __name__ == "__main__":
    main()
