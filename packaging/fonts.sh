#!/usr/bin/env bash
# Makes the fonts of the sheet (src/papers/blatt/fonts) from Open Sans as Debian has it: the letters of the languages of
# Europe, without hints and features. It needs Debian, root, and the network.
set -euo pipefail
cd "$(dirname "$0")/.."
apt-get install -y -qq fonts-open-sans python3-fonttools >/dev/null

/usr/bin/python3 - /usr/share/fonts/truetype/open-sans src/papers/blatt/fonts <<'PYTHON'
import sys
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

source, target = sys.argv[1:]
# Latin with Extended-A and -B, modifiers, Greek, Cyrillic, punctuation, currencies, signs of trade.
RANGES = [(0x20, 0x7E), (0xA0, 0x24F), (0x2C6, 0x2DD), (0x370, 0x3FF), (0x400, 0x52F), (0x1E80, 0x1E85),
          (0x1EF2, 0x1EF3), (0x2000, 0x206F), (0x2070, 0x2089), (0x20A0, 0x20BF), (0x2105, 0x2126),
          (0x2150, 0x215E), (0x2190, 0x2193), (0x2202, 0x2265), (0x25A0, 0x25CF), (0xFB01, 0xFB02)]
# Characters that look like another one; the text keeps the character itself.
LOOKS_LIKE = {0x1E9E: 0xDF, 0x202F: 0xA0, 0x2007: 0xA0, 0x2010: 0x2D, 0x2011: 0x2D, 0x2015: 0x2014, 0x201B: 0x2018}
BOX = 0x25A1

for weight in ("Regular", "Bold"):
    font = TTFont(f"{source}/OpenSans-{weight}.ttf", recalcTimestamp=False)
    known = font.getBestCmap()
    options = Options()
    options.hinting = False
    options.layout_features = []
    options.drop_tables += ["GPOS", "GSUB", "GDEF", "kern", "DSIG", "gasp", "meta"]
    options.name_IDs = [0, 1, 2, 4, 5, 6, 13, 14]
    options.name_languages = [0x409]
    options.notdef_outline = True
    options.glyph_names = False
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[c for low, high in RANGES for c in range(low, high + 1) if c in known])
    subsetter.subset(font)
    # What a missing character is drawn as: the outline of .notdef, which PDF/A forbids by that name.
    glyphs = font["glyf"]
    glyphs["box"] = glyphs[".notdef"]
    font["hmtx"]["box"] = font["hmtx"][".notdef"]
    for table in font["cmap"].tables:
        for character, like in LOOKS_LIKE.items():
            if like in table.cmap and character not in table.cmap:
                table.cmap[character] = table.cmap[like]
        table.cmap[BOX] = "box"
    font.setGlyphOrder(font.getGlyphOrder())
    font.save(f"{target}/OpenSans-{weight}.ttf", reorderTables=False)
PYTHON
cp /usr/share/common-licenses/Apache-2.0 src/papers/blatt/fonts/LICENSE
sha256sum src/papers/blatt/fonts/*.ttf
