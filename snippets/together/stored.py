"""Written by train.py: the digests of the files beside it."""

DIGESTS = {
    "curve.json": "445272c24a1b6bf70ef3ba2c666c1b189dfbb04738e47d342ff89bfe4cfa781e",
    "text.txt": "38d5ca7435cc6de3fad785bf9f9f498d404c8202947e9248a062b587b60f0598",
    "weights.fp16": "e10d02494a492f1b337efae4dec12f189e6f6802d1f05199b73574f0f76ed891",
}
