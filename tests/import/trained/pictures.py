# SPDX-License-Identifier: MIT
"""Pictures for trained networks: crops of Debian's gnome-backgrounds, and text over such crops.

All are drawn from a seed, so that each run has the same ones.
"""

import pathlib

import numpy
from PIL import Image, ImageDraw, ImageFont

BACKGROUNDS = pathlib.Path("/usr/share/backgrounds/gnome")
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
WORDS = ("a accelerator bank before buffer channel clock column cube device driver entry event first "
         "grain interrupt kernel layer line memory network normal of output padding pixel pooling "
         "register result scale stride surface table the weight window with 0 17 42 2017 3.14").split()


class Drawing:
    """Crops and lines of text that one seed gives."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        # Files of a few bytes have a single colour.
        paths = [p for p in sorted(BACKGROUNDS.glob("*.webp")) if p.stat().st_size > 10000]
        if not paths:
            raise FileNotFoundError(f"{BACKGROUNDS}: no pictures")
        self.backgrounds = [Image.open(path).convert("RGB") for path in paths]
        self.fonts = sorted(FONTS.glob("*.ttf"))
        if not self.fonts:
            raise FileNotFoundError(f"{FONTS}: no fonts")

    def number(self, low, high):
        return int(self.random.integers(low, high))

    def crop(self, width, height):
        """A crop of the same proportions, of 1/8 of a background to nearly all of it."""
        picture = self.backgrounds[self.number(0, len(self.backgrounds))]
        most = min(picture.width / width, picture.height / height)
        factor = most * self.random.uniform(.125, .95)
        wide, high = int(width * factor), int(height * factor)
        left = self.number(0, picture.width - wide)
        top = self.number(0, picture.height - high)
        return picture.resize((width, height), Image.BILINEAR, (left, top, left + wide, top + high))

    def line(self, width, height):
        """A line of text over a crop, upside down every other time."""
        words = [WORDS[self.number(0, len(WORDS))] for _ in range(self.number(1, 5))]
        font = ImageFont.truetype(str(self.fonts[self.number(0, len(self.fonts))]),
                                  self.number(height // 2, height * 3 // 4))
        picture = self.crop(width, height)
        ground = numpy.asarray(picture).mean()
        level = self.number(0, 70) if ground > 127 else self.number(185, 256)
        draw = ImageDraw.Draw(picture)
        draw.text((self.number(2, 12), self.number(0, height // 4)), " ".join(words),
                  font=font, fill=(level, level, level))
        return picture.rotate(180) if self.number(0, 2) else picture


    def page(self, width, height):
        """A crop with lines of text, of 24 lines of pixels each."""
        picture = self.crop(width, height)
        for top in range(8, height - 32, 40):
            line = self.line(self.number(width // 2, width - 8), 24)
            picture.paste(line, (self.number(0, width - line.width), top))
        return picture


def planes(picture, scale, offset):
    """The elements by channel, line and column: pixel * scale + offset."""
    pixels = numpy.asarray(picture, numpy.float32)
    return (pixels * numpy.float32(scale) + numpy.float32(offset)).transpose(2, 0, 1)


def crops(seed, count, height, width, scale, offset):
    drawing = Drawing(seed)
    return numpy.stack([planes(drawing.crop(width, height), scale, offset) for _ in range(count)])


def lines(seed, count, height, width, scale, offset):
    drawing = Drawing(seed)
    return numpy.stack([planes(drawing.line(width, height), scale, offset) for _ in range(count)])


def pages(seed, count, height, width, scale, offset):
    drawing = Drawing(seed)
    return numpy.stack([planes(drawing.page(width, height), scale, offset) for _ in range(count)])
