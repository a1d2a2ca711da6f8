"""Speed of speculative decoding by the number of guesses."""

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.serving.speculative import speed

GUESSES = tuple(range(13))
RATES = (0.5, 0.7, 0.9)
COST = 0.1


def faster() -> Picture:
    rows = {rate: [speed(rate, guesses, COST) for guesses in GUESSES] for rate in RATES}
    best = {rate: max(GUESSES, key=lambda guesses, row=row: row[guesses]) for rate, row in rows.items()}
    picture = curves(
        [(f"rate {rate}", GUESSES, row) for rate, row in rows.items()],
        x_ticks=(0, 4, 8, 12),
        y_range=(0, 4),
        across="guesses in a step",
        up="speed",
        title=f"Tokens in the time of one step of the target; a guess takes {COST} of it",
        description="Each curve rises from 1 and falls again. "
        + " ".join(
            f"With the rate {rate}, the largest speed is {rows[rate][best[rate]]:.2f}, with {best[rate]} guesses." for rate in RATES
        ),
    )
    return played(
        picture, rates=[k / 20 for k in range(19)], rate=0.7, guesses=list(GUESSES), first=4, costs=[k / 20 for k in range(21)], cost=COST
    )
