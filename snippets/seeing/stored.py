"""Written by snippets/seeing/train.py: the digest of recall.json."""

DIGEST = "fbb4ad00998f02b27ffe708b09b54dda1cc4a0fe944d59de38d27529d60df89b"
