"""A picture of the weight that a constant gate gives to old tokens."""

from derivations.kernel.site.diagrams import Picture, curves
from snippets.linear.gates import share_beyond

GATES = (0.999, 0.99, 0.9)


def horizons() -> Picture:
    ages = [round(10 ** (step / 12)) for step in range(49)]
    ages = sorted(set(ages))
    horizons = [round(1 / (1 - gate)) for gate in GATES]
    shares = [share_beyond(gate, horizon) for gate, horizon in zip(GATES, horizons)]
    return curves(
        [(f"gate {gate}", ages, [share_beyond(gate, age) for age in ages]) for gate in GATES] + [("horizon", horizons, shares, True)],
        across="age in tokens",
        up="weight of older tokens",
        log="x",
        y_ticks=(0, 0.25, 0.5, 0.75, 1),
        title="The share of the weight of tokens older than an age",
        description="Each curve falls from 1 to 0, each at about a tenth of the age of the one before. A dot marks the horizon of each gate: "
        + ", ".join(f"{share:.2f} at {horizon}" for share, horizon in zip(shares, horizons))
        + ".",
    )
