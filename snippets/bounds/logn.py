import math


def leader_weight(gap: float, n: int, *, scale: float) -> float:
    return 1 / (1 + (n - 1) * math.exp(-scale * gap))
