# SPDX-License-Identifier: MIT
"""Each network of `network`, written as an ONNX model by ONNX's own package, gives the same bytes as
the same network described by hand:

    networks_test.py NETWORK_MODELS [NAME ...]
"""

import pathlib
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).with_name("models.py")
NETWORKS = ("lenet5", "alexnet", "alexnet-groups", "resnet18", "resnet50", "resnet152", "squeezenet",
            "googlenet", "mobilenetv1", "mobilenetv2", "efficientnet-b0", "vgg16", "vgg19",
            "densenet121", "yolo", "unet", "transformer")
DEVICES = (("int8", "nv_full"), ("int8", "nv_large"), ("int8", "nv_small"), ("fp16", "nv_full"))


def main():
    program, names = sys.argv[1], sys.argv[2:] or NETWORKS
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/{name}"
            subprocess.run([program, name, "--write", path], check=True)
            for precision in dict(DEVICES):
                subprocess.run([sys.executable, MODELS, path, precision, f"{path}-{precision}.onnx"],
                               check=True)
            for precision, configuration in DEVICES:
                print(f"{name}, {configuration}:", end=" ", flush=True)
                failed += subprocess.run([program, name, "--model", f"{path}-{precision}.onnx",
                                          "--device", f"model:{configuration}"],
                                         check=False).returncode != 0
    print(f"{failed} of {len(names) * len(DEVICES)} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
