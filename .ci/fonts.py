"""Make stix-two-math.woff2 from the package's stix-two-math-latin-400-normal.woff2: `python .ci/fonts.py THAT_FILE`.

Needs fonttools 4.68 and brotli 1.2. A sign outside the ranges below is drawn in another font: add it and run this again.
"""

import sys

from fontTools import subset
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

RANGES = """0020-007E 00A0-00FF 0131 0237 02C6-02DD 0300-0338 0391-03F6 2010-2063 20D0-20DC 2102-2138 2190-21FF 2200-22FF
2308-230B 2320-2321 239B-23B9 23DC-23E1 25A0-25FF 27C2 27E6-27EF 27F5-27FE 2A00-2A06 2A7D-2A7E 2AAF-2AB0 2AEB 1D400-1D4CF
1D538-1D56B 1D6A4-1D755 1D7CE-1D7D7"""


def narrow_radicals(font):
    """Give every size of the root sign the width of the smallest.

    MathML sets room aside for the widest size there is, whichever is drawn, so that a space followed each small root.
    """
    glyphs, widths = font.getGlyphSet(), font["hmtx"].metrics
    variants = font["MATH"].table.MathVariants
    root = font.getBestCmap()[0x221A]
    sizes = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    names = [record.VariantGlyph for record in sizes.MathGlyphVariantRecord]
    names += [part.glyph for part in sizes.GlyphAssembly.PartRecords]
    target = widths[root][0]
    for name in dict.fromkeys(names):
        width, bearing = widths[name]
        if width <= target:
            continue
        scale = target / width
        if "CFF " in font:
            pen = T2CharStringPen(target, glyphs)
            glyphs[name].draw(TransformPen(pen, (scale, 0, 0, 1, 0, 0)))
            strings = font["CFF "].cff.topDictIndex[0].CharStrings
            old = strings[name]
            strings[name] = pen.getCharString(old.private, old.globalSubrs)
        else:
            pen = TTGlyphPen(None)
            glyphs[name].draw(TransformPen(pen, (scale, 0, 0, 1, 0, 0)))
            font["glyf"][name] = pen.glyph()
        widths[name] = (target, round(bearing * scale))


def main(source):
    font = TTFont(source)
    options = subset.Options(layout_features=["*"], flavor="woff2")
    subsetter = subset.Subsetter(options)
    ends = ([int(end, 16) for end in part.split("-")] for part in RANGES.split())
    subsetter.populate(unicodes=[code for first, *last in ends for code in range(first, (last or [first])[0] + 1)])
    subsetter.subset(font)
    narrow_radicals(font)
    subset.save_font(font, "stix-two-math.woff2", options)


if __name__ == "__main__":
    main(sys.argv[1])
