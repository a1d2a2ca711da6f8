# %% [markdown]
# # Scores in numbers
#
# Queries and keys are drawn at random, with independent standard normal entries, for heads from 1 to 1024 features wide.
# The same functions as on the pages measure what becomes of their scores. The numbers and the curves below come from
# a run of these functions as they are now.

# %% tags=["hide"]
import io
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import SVG, display

# The functions live at the root of the repository, wherever the notebook is run from.
sys.path.insert(0, str(next(p for p in (Path.cwd(), *Path.cwd().parents) if (p / "snippets").is_dir())))

SCALED, UNSCALED = "#4a86c5", "#c8701e"  # each at a contrast of 3 or more to paper and to a dark ground
plt.rcParams.update(
    {
        "figure.figsize": (5.6, 3.4),
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "legend.frameon": False,
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "lab",
    }
)


def over_widths(axes, label):
    """Label the logarithmic axis of widths by every other power of two."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths[::2], widths[::2])
    axes.set(xlabel="width of a head", ylabel=label)
    axes.minorticks_off()


def show(figure, alternative):
    """Display the figure as SVG, with a title for those who do not see it."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Title": alternative, "Date": None})
    plt.close(figure)
    display(SVG(file.getvalue()))


# %% [markdown]
# ## Growth
#
# The standard deviation of the dot product of a query and a key, over 5,000 pairs for each width. What is expected is proved
# in [the variance of a dot product](../../scaling/variance/).

# %%
import torch

from snippets.scaling.variance import draw, predicted_moments, sample_moments

generator = torch.Generator().manual_seed(0)
widths = [2**i for i in range(11)]  # 1, 2, 4, ..., 1024
deviation = []
for d in widths:
    q, k = draw(2, 5000, d, generator=generator)
    deviation.append(sample_moments(q, k)[1].sqrt().item())

predicted = [predicted_moments(d)[1] ** 0.5 for d in widths]
worst = max(abs(measured / expected - 1) for measured, expected in zip(deviation, predicted))
print(f"measured against predicted, at worst: {worst:.1%} off")

# %% tags=["hide"]
figure, axes = plt.subplots()
axes.loglog(widths, predicted, color="black", linewidth=1, label="predicted, the square root of the width")
axes.loglog(widths, deviation, "o", color=UNSCALED, label="measured, without the scale")
scaled = [measured * d**-0.5 for d, measured in zip(widths, deviation)]
axes.loglog(widths, scaled, "s", color=SCALED, label="measured, with the scale")
axes.set(ylim=(0.5, 120))
over_widths(axes, "standard deviation of a score")
axes.legend(loc="upper left")
show(
    figure,
    "Standard deviation of a score against the width of a head, on logarithmic axes: unscaled scores follow "
    "the square root of the width, scaled ones stay at 1.",
)
assert worst < 0.2 and all(abs(s - 1) < 0.2 for s in scaled)

# %% [markdown]
# Both axes are logarithmic. Without the scale the scores follow the straight line of $\sqrt{d_k}$; with it they stay
# level.

# %% [markdown]
# ## Shape
#
# The histogram of 100,000 scaled scores beside the density of the standard normal law, which they approach
# [as the width grows](../../scaling/normal/).

# %%
from snippets.scaling.normal import excess_kurtosis, predicted_excess_kurtosis, scaled_dots

samples = {d: scaled_dots(100_000, d, generator=generator) for d in (1, 4, 64)}
for d, x in samples.items():
    print(f"width {d:2}: excess kurtosis {excess_kurtosis(x):.2f}, predicted {predicted_excess_kurtosis(d):.2f}")

# %% tags=["hide"]
figure, axes = plt.subplots()
grid = torch.linspace(-4, 4, 201)
for (d, x), colour, width in zip(samples.items(), ("#b8588a", "#8a7fc4", "#3f8f6b"), (1, 1, 2.5)):
    heights, edges = torch.histogram(x, bins=80, range=(-4, 4))
    density = heights / len(x) / (edges[1] - edges[0])
    axes.stairs(density, edges, color=colour, linewidth=width, label=f"width {d}")
normal = torch.distributions.Normal(0, 1).log_prob(grid).exp()
axes.plot(grid, normal, ":", color="black", linewidth=1.5, label="normal density")
axes.set(xlabel="scaled score", ylabel="density", xlim=(-4, 4), ylim=(0, None))
axes.legend(loc="upper right")
show(
    figure,
    "Histograms of scaled scores for heads of width 1, 4 and 64, and the normal density: width 1 has a sharp "
    "peak at 0, width 64 lies on the normal curve.",
)

# %% [markdown]
# For one feature the peak is high and the tails are heavy. At 4 features most of that is gone, and at 64 the histogram
# lies on the curve.

# %% [markdown]
# ## Entropy
#
# Each of 1,000 queries now attends to 16 keys. The entropy of its weights says how many keys take part: it is the
# logarithm of 16 when all weigh the same, and 0 when one key takes everything: [saturation](../../scaling/saturation/).

# %%
from snippets.attention.formula import attention_weights, scores
from snippets.scaling.saturation import entropy, query_gradients


def draw_heads(d_k):
    """100 sequences of 10 queries and 16 keys, with values of one feature."""
    return (draw(100, count, width, generator=generator) for count, width in ((10, d_k), (16, d_k), (16, 1)))


mean_entropy = {"scaled": [], "unscaled": []}
gradients = {"scaled": [], "unscaled": []}
for d_k in widths:
    query, key, value = draw_heads(d_k)
    for name, scale in (("scaled", None), ("unscaled", 1.0)):
        mean_entropy[name].append(entropy(attention_weights(query, key, scale=scale)).mean().item())
        gradients[name].append(query_gradients(query, key, value, scale=scale).flatten())  # (1000,)

for name, values in mean_entropy.items():
    print(f"{name:8}   mean entropy {values[0]:.2f} at width 1, {values[-1]:.2f} at width {widths[-1]}")

# %% tags=["hide"]
figure, axes = plt.subplots()
axes.axhline(torch.tensor(16.0).log(), color="black", linewidth=1, linestyle=":")
axes.annotate("all 16 keys weigh the same", (1, torch.tensor(16.0).log()), xytext=(0, 4), textcoords="offset points")
axes.semilogx(widths, mean_entropy["scaled"], "s-", color=SCALED, label="with the scale")
axes.semilogx(widths, mean_entropy["unscaled"], "o-", color=UNSCALED, label="without")
axes.set(ylim=(0, 3.1))
over_widths(axes, "mean entropy of the weights")
axes.legend(loc="center right")
show(figure, "Mean entropy of the weights against the width of a head: with the scale it stays level, without it falls towards 0.")
assert min(mean_entropy["scaled"]) > 2 and mean_entropy["unscaled"][-1] < 0.2

# %% [markdown]
# With the scale the entropy hardly depends on the width. Without it, one key gets nearly all of the weight.

# %% [markdown]
# ## Gradients
#
# The length of the gradient that each query receives from the output of its head. [The theorems](../../scaling/saturation/)
# show what happens to the gradient when gaps grow.

# %%
for name, lengths in gradients.items():
    for d_k, x in zip(widths[::5], lengths[::5]):
        largest = x.sort(descending=True).values.cumsum(0)
        half = (largest < largest[-1] / 2).double().mean()  # the share of the queries that get half of it all
        print(f"{name:8} width {d_k:4}   mean {x.mean():.2f}   median {x.median():.4f}   half goes to {half:4.0%}")

best, second = scores(query, key, scale=1.0).topk(2, dim=-1).values.unbind(-1)  # at the last width, 1024
gap, x = (best - second).flatten(), gradients["unscaled"][-1]
print(f"median gap of the two best scores: {gap.median():.1f}; at the 30 largest gradients: {gap[x.topk(30).indices].median():.1f}")

# %% tags=["hide"]
figure, axes = plt.subplots()
for (name, lengths), colour, marker in zip(gradients.items(), (SCALED, UNSCALED), "so"):
    label = "with the scale" if name == "scaled" else "without"
    axes.loglog(widths, [x.median() for x in lengths], marker + "-", color=colour, label=f"median, {label}")
    axes.loglog(widths, [x.mean() for x in lengths], marker + ":", color=colour, fillstyle="none", label=f"mean, {label}")
axes.set(ylim=(1e-4, 10))
over_widths(axes, "length of a query's gradient")
axes.legend(loc="lower left")
show(
    figure,
    "Mean and median length of the gradients of queries against the width of a head, on logarithmic axes: with "
    "the scale both stay level; without it the mean stays near 1 and the median falls by orders of magnitude.",
)
assert gradients["unscaled"][-1].median() < 0.01 < 0.5 < gradients["unscaled"][-1].mean()
assert x.topk(30).values.min() > gradients["scaled"][-1].max()
assert gap[x.topk(30).indices].median() < 3 < gap.median()

# %% [markdown]
# It is often said that without the scale the gradients vanish. For the typical query they do: the median falls by orders
# of magnitude. The mean does not. A few queries, those whose two best keys score nearly the same, receive gradients
# larger than any with the scale, and all others next to nothing. With the scale the gradient is spread over many queries.
