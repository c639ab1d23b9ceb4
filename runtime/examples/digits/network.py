# SPDX-License-Identifier: MIT
"""The float network and its training: convolutions with ReLU, nothing else.

Activations are N x H x W x C here (the fast order for im2col); kernels are kept as
R x S x C x K and leave this file as K x C x R x S, the order of the weights file.
"""

from dataclasses import dataclass

import numpy as np

INPUT_SCALE = 1.0 / 128.0


def encode(pictures):
    """Pixels 0..255 to the int8 input of the network: pixel - 128. Exact, so that quantising
    the input costs nothing; real value = int8 value / 128."""
    return (pictures.astype(np.int16) - 128).astype(np.int8)


@dataclass(frozen=True)
class Geometry:
    """One convolution. (size + padding - kernel) must be a multiple of the stride: NVDLA
    demands an exact division."""

    name: str
    kernels: int
    channels: int
    size: int  # kernel height and width
    stride: int
    before: int  # padding left and top
    after: int  # padding right and bottom
    pad: int  # padding value in input units of the int8 network
    relu: bool

    def output(self, side):
        span = side + self.before + self.after - self.size
        if span < 0 or span % self.stride:
            raise ValueError(f"{self.name}: stride {self.stride} does not divide {span}")
        return span // self.stride + 1


LAYERS = (
    # Padding continues the dark ground: -128 is pixel 0.
    Geometry("conv1", 16, 1, 5, 2, 1, 2, -128, True),  # 28 x 28 -> 14 x 14
    Geometry("conv2", 32, 16, 3, 2, 0, 1, 0, True),  # 14 x 14 -> 7 x 7
    Geometry("conv3", 32, 32, 3, 1, 0, 0, 0, True),  # 7 x 7 -> 5 x 5
    Geometry("conv4", 48, 32, 3, 2, 1, 1, 0, True),  # 5 x 5 -> 3 x 3
    Geometry("scores", 10, 48, 3, 1, 0, 0, 0, False),  # 3 x 3 -> 1 x 1
)


def patches(x, geometry, pad):
    """im2col: N x H x W x C -> (N, OH, OW, R * S * C), a copy."""
    g = geometry
    width = ((0, 0), (g.before, g.after), (g.before, g.after), (0, 0))
    x = np.pad(x, width, constant_values=pad)
    n, h, w, c = x.shape
    oh, ow = (h - g.size) // g.stride + 1, (w - g.size) // g.stride + 1
    sn, sh, sw, sc = x.strides
    view = np.lib.stride_tricks.as_strided(
        x, (n, oh, ow, g.size, g.size, c), (sn, sh * g.stride, sw * g.stride, sh, sw, sc)
    )
    return view.reshape(n, oh, ow, g.size * g.size * c)


class Convolution:
    def __init__(self, geometry, rng):
        g = self.geometry = geometry
        fan_in = g.size * g.size * g.channels
        gain = 2.0 if g.relu else 1.0
        self.weights = rng.normal(0.0, np.sqrt(gain / fan_in), (fan_in, g.kernels)).astype(np.float32)
        self.bias = np.zeros(g.kernels, np.float32)

    def forward(self, x):
        g = self.geometry
        self._shape = x.shape
        # Only the first layer pads with something else than zero.
        self._columns = patches(x, g, np.float32(g.pad * INPUT_SCALE))
        y = self._columns @ self.weights + self.bias
        if g.relu:
            np.maximum(y, 0, out=y)
            self._live = y > 0
        return y

    def backward(self, grad, need_input):
        """Fills grad_weights and grad_bias; returns the gradient of the input if asked for."""
        g = self.geometry
        if g.relu:
            grad = grad * self._live
        n, oh, ow, k = grad.shape
        flat = grad.reshape(-1, k)
        self.grad_weights = self._columns.reshape(-1, self._columns.shape[-1]).T @ flat
        self.grad_bias = flat.sum(axis=0)
        if not need_input:
            return None
        columns = (flat @ self.weights.T).reshape(n, oh, ow, g.size, g.size, g.channels)
        _, h, w, c = self._shape
        padded = np.zeros((n, h + g.before + g.after, w + g.before + g.after, c), np.float32)
        for r in range(g.size):
            for s in range(g.size):
                rows = slice(r, r + g.stride * oh, g.stride)
                cols = slice(s, s + g.stride * ow, g.stride)
                padded[:, rows, cols] += columns[:, :, :, r, s]
        return padded[:, g.before : g.before + h, g.before : g.before + w]

    def kcrs(self):
        g = self.geometry
        return self.weights.reshape(g.size, g.size, g.channels, g.kernels).transpose(3, 2, 0, 1)


class Network:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.layers = [Convolution(geometry, rng) for geometry in LAYERS]

    def forward(self, pictures):
        """Scores N x 10 of uint8 pictures."""
        x = (encode(pictures).astype(np.float32) * np.float32(INPUT_SCALE))[..., np.newaxis]
        for layer in self.layers:
            x = layer.forward(x)
        return x.reshape(len(pictures), -1)

    def backward(self, grad):
        grad = grad.reshape(len(grad), 1, 1, -1)
        for index in reversed(range(len(self.layers))):
            grad = self.layers[index].backward(grad, index > 0)


def softmax_gradient(scores, labels):
    """Mean cross entropy and its gradient."""
    scores = scores - scores.max(axis=1, keepdims=True)
    probability = np.exp(scores)
    probability /= probability.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(np.maximum(probability[rows, labels], 1e-12)).mean()
    probability[rows, labels] -= 1
    return loss, probability / len(labels)


class Adam:
    """Adam with decoupled weight decay on the weights (small weights quantise better)."""

    def __init__(self, network, decay):
        self._network = network
        self._decay = decay
        self._step = 0
        self._state = [
            {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in self._values(layer)}
            for layer in network.layers
        ]

    @staticmethod
    def _values(layer):
        return (("weights", layer.weights), ("bias", layer.bias))

    def step(self, rate):
        self._step += 1
        for layer, state in zip(self._network.layers, self._state):
            for name, value in self._values(layer):
                grad = getattr(layer, "grad_" + name)
                mean, square = state[name]
                mean += 0.1 * (grad - mean)
                square += 0.001 * (grad * grad - square)
                corrected = mean / (1 - 0.9**self._step)
                norm = np.sqrt(square / (1 - 0.999**self._step)) + 1e-8
                value -= np.float32(rate) * (corrected / norm)
                if name == "weights":
                    value -= np.float32(rate * self._decay) * value


def train(pictures, labels, seed, epochs, batch, rate, log=print):
    network = Network(seed)
    adam = Adam(network, decay=1e-2)
    rng = np.random.default_rng(seed + 1)
    steps = epochs * (len(labels) // batch)
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(labels))
        total, correct = 0.0, 0
        for start in range(0, len(labels) - batch + 1, batch):
            pick = order[start : start + batch]
            scores = network.forward(pictures[pick])
            loss, grad = softmax_gradient(scores, labels[pick])
            network.backward(grad.astype(np.float32))
            # One warm-up of 5 %, then a cosine to zero.
            done = step / steps
            adam.step(rate * min(1.0, done / 0.05) * 0.5 * (1 + np.cos(np.pi * done)))
            step += 1
            total += loss * len(pick)
            correct += int((scores.argmax(axis=1) == labels[pick]).sum())
        seen = len(labels) // batch * batch
        log(f"epoch {epoch + 1}/{epochs}: loss {total / seen:.4f}, correct {100 * correct / seen:.2f} %")
    return network
