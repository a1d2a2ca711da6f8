"""Make the site's modified fonts from the original packages.

    npm pack @fontsource/stix-two-math@5.3.0 @fontsource-variable/inter@5.3.0    then unpack both
    python .ci/fonts.py FOLDER ...

This needs fonttools 4.68 and brotli 1.2. A character that is not listed here is drawn in another font: add it and run this script again.
"""

import sys
from pathlib import Path

# The characters of formulas, and the symbols in labels. tests/site/test_page_loading.py compares them with the pages and with the font.
SIGNS = (
    " !'()+,-./0123456789:;<=>?[]{|ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    "ΔΠαβγδεζηθικλμνξπρστυφχψωϕϵ𝟎𝟏"
    "\u2061\u2063\u00b7×‖ℓ→∂∑−√∞≈≔≠≤≥≰⊙⊤⋅✓"
)

# A single letter in a formula is drawn in italics, which have separate code points.
UPRIGHT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzΔΠΣΦΩαβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ"
ITALIC = "𝐴𝐵𝐶𝐷𝐸𝐹𝐺𝐻𝐼𝐽𝐾𝐿𝑀𝑁𝑂𝑃𝑄𝑅𝑆𝑇𝑈𝑉𝑊𝑋𝑌𝑍𝑎𝑏𝑐𝑑𝑒𝑓𝑔ℎ𝑖𝑗𝑘𝑙𝑚𝑛𝑜𝑝𝑞𝑟𝑠𝑡𝑢𝑣𝑤𝑥𝑦𝑧𝛥𝛱𝛴𝛷𝛺𝛼𝛽𝛾𝛿𝜀𝜁𝜂𝜃𝜄𝜅𝜆𝜇𝜈𝜉𝜊𝜋𝜌𝜍𝜎𝜏𝜐𝜑𝜒𝜓𝜔𝜕𝜖𝜗𝜘𝜙𝜚𝜛"
ITALICS = dict(zip(UPRIGHT, ITALIC, strict=True))

# The code points and the range of weights of labels.
LABELS = [*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2010, 0x2027), 0x2022, 0x2190, 0x2191, 0x2192, 0x2193, 0x2212]
WEIGHTS = (400, 600)

# In thousandths of the font size. With the font's original constants, a subscript depends on the descent of its base and a superscript on
# the height of its base, so that the scripts of q and k are not aligned. TeX does this for brackets only; these values come close to TeX.
# A bar of at most one pixel is always drawn with one pixel, a thicker one with one or two, depending on its position on the screen.
# The vertical gap leaves two pixels between the bar of a root and the letters below it, which touched before.
BAR = 52
CONSTANTS = {
    "SubscriptBaselineDropMin": 0,
    "SuperscriptBaselineDropMax": 346,
    "FractionRuleThickness": BAR,
    "RadicalRuleThickness": BAR,
    "RadicalVerticalGap": 110,
}


def drawn_forms(sign: str) -> set[str]:
    """Return the characters as which a character of a formula may be drawn: itself and its italic form."""
    return {sign, ITALICS.get(sign, sign)}


def narrow_radicals(font):
    """Give every size of the root sign the width of the smallest, and reduce the start of the bar to the thickness of the bar.

    MathML reserves the width of the widest size, whichever size is drawn, which left a space after each small root.
    """
    from fontTools.pens.transformPen import TransformPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    glyphs, widths = font.getGlyphSet(), font["hmtx"].metrics
    variants = font["MATH"].table.MathVariants
    root = font.getBestCmap()[ord("√")]
    sizes = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    names = [record.VariantGlyph for record in sizes.MathGlyphVariantRecord]
    names += [part.glyph for part in sizes.GlyphAssembly.PartRecords]
    target = widths[root][0]
    thicker = font["MATH"].table.MathConstants.RadicalRuleThickness.Value - BAR
    for name in dict.fromkeys(names):
        width, bearing = widths[name]
        scale = min(1, target / width)
        pen = TTGlyphPen(None)
        glyphs[name].draw(TransformPen(pen, (scale, 0, 0, 1, 0, 0)))
        font["glyf"][name] = pen.glyph()
        thin_bar(font["glyf"][name].coordinates, thicker)
        widths[name] = (round(width * scale), round(bearing * scale))


def thin_bar(points, by):
    """Raise the lower edge of the bar at the end of a root sign. A glyph without a bar has no points there and stays unchanged."""
    top = max(y for _, y in points)
    for number, (x, y) in enumerate(points):
        if y == top - BAR - by:
            points[number] = (x, y + by)


def set_constants(font):
    """Set CONSTANTS in the MATH table of a font."""
    constants = font["MATH"].table.MathConstants
    for name, value in CONSTANTS.items():
        getattr(constants, name).Value = value


def write_math_font(source: Path, to: Path) -> None:
    """Write the font for formulas, with all sizes of the stretchable characters."""
    font, subset, options = load_font(source)
    reduce_font(font, subset, options, {ord(shape) for sign in SIGNS for shape in drawn_forms(sign)})
    narrow_radicals(font)  # before `set_constants`, since it reads the original thickness
    set_constants(font)
    subset.save_font(font, to, options)


def write_label_font(source: Path, to: Path) -> None:
    """Write the font for labels, limited to the weights that the site uses."""
    from fontTools.varLib import instancer

    font, subset, options = load_font(source)
    reduce_font(font, subset, options, set(LABELS))
    font = instancer.instantiateVariableFont(font, {"wght": WEIGHTS})
    subset.save_font(font, to, options)


def load_font(source: Path):
    """Return the font in a file, the module fontTools.subset, and its options."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    return TTFont(source), subset, subset.Options(flavor="woff2", layout_features=["kern", "ccmp", "locl", "tnum", "lnum", "calt"])


def reduce_font(font, subset, options, codes: set[int]) -> None:
    """Reduce a font to these code points."""
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)


FONTS = {
    "stix-two-math.woff2": (write_math_font, "stix-two-math-latin-400-normal.woff2"),
    "inter.woff2": (write_label_font, "inter-latin-wght-normal.woff2"),
}


def main(folders):
    for name, (make, source) in FONTS.items():
        found = next((path for folder in folders for path in Path(folder).rglob(source)), None)
        if found is None:
            sys.exit(f"fonts: no {source} in {' '.join(folders) or 'no folder'}")
        make(found, Path("docs/assets/fonts", name))


if __name__ == "__main__":
    main(sys.argv[1:])
