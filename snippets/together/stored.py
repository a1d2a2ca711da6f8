"""Written by train.py: the digests of the files beside it."""

DIGESTS = {
    "curve.json": "4f36174c86f1a6e1905a2d07c40969854ba750fd49ef485e61a33a8adc9283a0",
    "text.txt": "38d5ca7435cc6de3fad785bf9f9f498d404c8202947e9248a062b587b60f0598",
    "weights.fp16": "e2ec94b20ba1a40f697708e4dd18690ceb4a6b47898dc281e718290905c632d3",
}
