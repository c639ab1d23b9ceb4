# SPDX-License-Identifier: MIT
"""Pictures of the digits 0..9, rendered from Debian's fonts with distortions.

A picture is 28 x 28 grey levels, a light digit on a dark ground. Everything random comes from
the generator that is handed in, so a seed names a data set.
"""

import pathlib
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

SIDE = 28
SUPERSAMPLE = 3  # the affine map is sampled finer than the picture, then averaged down
GLYPH_PIXELS = 64
FONT_ROOT = pathlib.Path("/usr/share/fonts/truetype")

# Folder -> faces left out because their digits hardly show at 28 pixels or repeat another face.
SEEN_FAMILIES = {
    "comfortaa": (),
    "dejavu": ("DejaVuMathTeXGyre",),
    "freefont": (),
    "lato": ("Lato-Hairline", "Lato-HairlineItalic", "Lato-Thin", "Lato-ThinItalic"),
    "liberation": (),
    "open-sans": (),
    "roboto": ("Roboto-Thin", "Roboto-ThinItalic"),
}
# Never seen in training or calibration: half of the held-out pictures use these.
UNSEEN_FAMILIES = {"crosextra": (), "hack": (), "inconsolata": ()}


@dataclass(frozen=True)
class Look:
    """How one digit is drawn; lengths are in pixels of the finished picture."""

    height: float = 18.0
    aspect: float = 1.0
    shift_x: float = 0.0
    shift_y: float = 0.0
    rotation: float = 0.0  # degrees, positive is clockwise
    shear: float = 0.0
    stroke: int = 0  # pixels of the large glyph added around its outline
    blur: float = 0.0
    ground: float = 0.0
    ink: float = 255.0
    noise: float = 0.0


def faces(families):
    """Font files of the families, in an order that does not depend on the file system."""
    found = []
    for folder, left_out in families.items():
        files = [
            path
            for path in (FONT_ROOT / folder).rglob("*")
            if path.suffix in (".ttf", ".otf") and path.stem not in left_out
        ]
        if not files:
            raise FileNotFoundError(
                f"no fonts in {FONT_ROOT / folder}: install the packages of packages-train.txt"
            )
        found += sorted(files)
    return found


def random_look(rng):
    return Look(
        height=rng.uniform(15.0, 22.0),
        aspect=rng.uniform(0.8, 1.25),
        shift_x=rng.uniform(-2.5, 2.5),
        shift_y=rng.uniform(-2.5, 2.5),
        rotation=rng.uniform(-15.0, 15.0),
        shear=rng.uniform(-0.25, 0.25),
        stroke=int(rng.choice((0, 0, 0, 1, 2))),
        blur=rng.uniform(0.0, 0.8),
        ground=rng.uniform(0.0, 70.0),
        ink=rng.uniform(150.0, 255.0),
        noise=rng.uniform(0.0, 12.0),
    )


class Renderer:
    """Draws digits; keeps the large undistorted glyphs, which are the slow part."""

    def __init__(self):
        self._fonts = {}
        self._glyphs = {}

    def _glyph(self, face, digit, stroke):
        key = (face, digit, stroke)
        if key not in self._glyphs:
            if face not in self._fonts:
                self._fonts[face] = ImageFont.truetype(
                    str(face), GLYPH_PIXELS, layout_engine=ImageFont.Layout.BASIC
                )
            font = self._fonts[face]
            canvas = Image.new("L", (3 * GLYPH_PIXELS, 3 * GLYPH_PIXELS), 0)
            ImageDraw.Draw(canvas).text(
                (GLYPH_PIXELS, GLYPH_PIXELS), str(digit), fill=255, font=font, stroke_width=stroke
            )
            self._glyphs[key] = (canvas, canvas.getbbox())
        return self._glyphs[key]

    def draw(self, face, digit, look, rng):
        """One picture as uint8[SIDE, SIDE]."""
        glyph, (left, top, right, bottom) = self._glyph(face, digit, look.stroke)
        scale = look.height / (bottom - top)
        # A wide glyph is made smaller rather than cut at the sides.
        scale = min(scale, 0.8 * SIDE / ((right - left) * look.aspect))
        angle = np.deg2rad(look.rotation)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        forward = turn @ np.array([[look.aspect, -look.shear], [0.0, 1.0]]) * (scale * SUPERSAMPLE)
        inverse = np.linalg.inv(forward)
        target = SUPERSAMPLE * (SIDE / 2 + np.array([look.shift_x, look.shift_y]))
        source = np.array([(left + right) / 2, (top + bottom) / 2])
        offset = source - inverse @ target
        fine = SIDE * SUPERSAMPLE
        mask = glyph.transform(
            (fine, fine),
            Image.Transform.AFFINE,
            (*inverse[0], offset[0], *inverse[1], offset[1]),
            Image.Resampling.BILINEAR,
        ).reduce(SUPERSAMPLE)
        if look.blur > 0.0:
            mask = mask.filter(ImageFilter.GaussianBlur(look.blur))
        grey = look.ground + np.asarray(mask, np.float64) * ((look.ink - look.ground) / 255.0)
        if look.noise > 0.0:
            grey = grey + rng.normal(0.0, look.noise, grey.shape)
        return np.clip(np.rint(grey), 0, 255).astype(np.uint8)


def make(count, seed, families):
    """A data set with equally many pictures of each digit, in random order.

    Returns pictures uint8[count, SIDE, SIDE], labels int64[count] and the face names. When two
    groups of families are given they share the pictures equally, whatever their number of faces.
    """
    rng = np.random.default_rng(seed)
    groups = [faces(group) for group in families]
    labels = rng.permutation(np.arange(count) % 10)
    renderer = Renderer()
    pictures = np.empty((count, SIDE, SIDE), np.uint8)
    names = []
    for index, digit in enumerate(labels):
        group = groups[rng.integers(len(groups))]
        face = group[rng.integers(len(group))]
        pictures[index] = renderer.draw(face, int(digit), random_look(rng), rng)
        names.append(face.stem)
    return pictures, labels, names
