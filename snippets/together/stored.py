"""Written by snippets/together/train.py: the digests of the files beside it."""

DIGESTS = {
    "curve.json": "257b0ff349f481a793e31d968c655af32c8cf14015542635774d2f2707d08122",
    "text.txt": "38d5ca7435cc6de3fad785bf9f9f498d404c8202947e9248a062b587b60f0598",
    "weights.fp16": "7ee4b466620e8aa7eeb18ecb63724b56384384abe8966f12f2cfabb3795ef497",
}
