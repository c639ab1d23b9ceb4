# SPDX-License-Identifier: MIT
"""Numbers as the units compute them, and how they lie in memory.

Integers: the converters and shifts of the hardware. fp16: plain arithmetic, which
is right only where every sum and product is exact in the unit's own format; exact()
proves that of each result, the cases are made so. Rounding is not what they show.
"""

import struct

from case import BYTES, FP16, INT8

LIMITS = {"int8": 8, "int16": 16}


def rounded_shift(value, shift):
    """value / 2**shift, halves away from zero; a negative shift multiplies."""
    if shift <= 0:
        return value << -shift
    magnitude = (abs(value) + (1 << shift - 1)) >> shift
    return magnitude if value >= 0 else -magnitude


def saturate(value, bits):
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, value))


def convert(value, offset, scale, shift, bits):
    return saturate(rounded_shift((value - offset) * scale, shift), bits)


def exact(value):
    """Return a number that fp16 has, as it is."""
    assert struct.unpack("<e", struct.pack("<e", value))[0] == value, value
    return value


def half(value):
    """The 16 bits of an exact fp16."""
    return struct.unpack("<H", struct.pack("<e", exact(value)))[0]


def single(value):
    """The 32 bits of an exact fp32."""
    assert struct.unpack("<f", struct.pack("<f", value))[0] == value, value
    return struct.unpack("<I", struct.pack("<f", value))[0]


class Random:
    """A small generator of our own, so that the cases stay as they are."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 2**32 or 1

    def next(self):
        self.state ^= self.state << 13 & 0xffffffff
        self.state ^= self.state >> 17
        self.state ^= self.state << 5 & 0xffffffff
        return self.state

    def integer(self, low, high):
        return low + self.next() % (high - low + 1)

    def number(self, precision):
        """Any integer of the precision; of fp16 a small one, halves too."""
        if precision == FP16:
            return self.integer(-16, 16) / 2
        bits = LIMITS[precision]
        return self.integer(-(1 << bits - 1), (1 << bits - 1) - 1)


class Cube:
    """A feature cube, packed: [c][y][x], all lanes of its last surface included."""

    def __init__(self, hw, precision, width, height, channels, make=lambda c, y, x: 0):
        self.hw, self.precision = hw, precision
        self.width, self.height, self.channels = width, height, channels
        self.elements = hw.atom // BYTES[precision]
        self.surfaces = -(-channels // self.elements)
        self.lanes = self.surfaces * self.elements
        self.line = width * hw.atom
        self.surface = height * self.line
        self.data = [[[make(c, y, x) for x in range(width)] for y in range(height)]
                     for c in range(self.lanes)]

    def at(self, c, y, x):
        return self.data[c][y][x]

    def pack(self):
        form = {"int8": "<b", "int16": "<h", "fp16": "<e"}[self.precision]
        if self.precision == FP16:
            for plane in self.data:
                for row in plane:
                    for value in row:
                        exact(value)
        return b"".join(struct.pack(form, self.data[s * self.elements + e][y][x])
                        for s in range(self.surfaces) for y in range(self.height)
                        for x in range(self.width) for e in range(self.elements))


def pack_operands(values, precision):
    """One operand for each channel: two bytes each, but for fp16's bits the same."""
    form = "<e" if precision == FP16 else "<h"
    return b"".join(struct.pack(form, value) for value in values)


def random_cube(hw, precision, width, height, channels, random, low=None, high=None):
    def make(_c, _y, _x):
        return random.number(precision) if low is None else random.integer(low, high)
    return Cube(hw, precision, width, height, channels, make)


def processing_lanes(hw, precision):
    """Elements of a column of SDP."""
    return hw.atom if precision == INT8 else hw.atom // 2
