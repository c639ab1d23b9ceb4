# SPDX-License-Identifier: MIT
"""Reader and writer of weights.json (the README describes the fields)."""

import json

import numpy as np

FORMAT = "nvdla-digits 1"


def _rows(values, kernels, text):
    """Flat KCRS numbers, one kernel a line, so that the file can be read and compared."""
    per_kernel = np.asarray(values).reshape(kernels, -1)
    lines = [", ".join(text(v) for v in row) for row in per_kernel]
    return "[\n        " + ",\n        ".join(lines) + "]"


def _float(value):
    return np.format_float_positional(np.float32(value), unique=True, trim="0")


def _integer(value):
    return str(int(value))


def dump(path, header, layers):
    """header and each layer are dictionaries; a layer's number arrays sit under "float" and "int8"."""
    out = ["{"]
    for key, value in {"format": FORMAT, **header}.items():
        out.append(f'  "{key}": {json.dumps(value)},')
    out.append('  "layers": [')
    blocks = []
    for layer in layers:
        lines = [
            f'      "{key}": {json.dumps(value)},'
            for key, value in layer.items()
            if key not in ("float", "int8")
        ]
        kernels = layer["kernel"]["count"]
        for kind, text in (("float", _float), ("int8", _integer)):
            numbers = layer[kind]
            bias = "[" + ", ".join(text(v) for v in numbers["bias"]) + "]"
            weights = _rows(numbers["weights"], kernels, text)
            lines.append(f'      "{kind}": {{\n        "bias": {bias},\n        "weights": {weights}}},')
        lines[-1] = lines[-1][:-1]
        blocks.append("    {\n" + "\n".join(lines) + "\n    }")
    out.append(",\n".join(blocks))
    out.append("  ]\n}\n")
    path.write_text("\n".join(out))


def load(path):
    """The file as dictionaries, number arrays as NumPy arrays (weights shaped K, C, R, S)."""
    content = json.loads(path.read_text())
    if content.get("format") != FORMAT:
        raise ValueError(f'{path}: format is {content.get("format")!r}, expected {FORMAT!r}')
    for layer in content["layers"]:
        kernel = layer["kernel"]
        shape = (kernel["count"], kernel["channels"], kernel["height"], kernel["width"])
        for kind, dtype in (("float", np.float32), ("int8", np.int64)):
            numbers = layer[kind]
            numbers["bias"] = np.array(numbers["bias"], dtype)
            numbers["weights"] = np.array(numbers["weights"], dtype).reshape(shape)
    return content
