"""Generating: which tokens the model gets, and that no graph is kept for gradients."""

import pytest
import torch

from snippets.together.gpt import GPT, Config


@pytest.fixture
def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = GPT(Config(vocab_size=11, num_layers=1, num_heads=2, num_kv_heads=1, d=8, d_ff=8)).double()
    for parameter in model.parameters():
        parameter.data *= 50 if parameter.dim() == 2 else 1
    return model


@pytest.mark.parametrize("use_cache", [True, False])
def test_the_whole_text_is_read_however_long(model, use_cache):
    prompt = torch.randint(11, (2, 90), generator=torch.Generator().manual_seed(1))
    expected = prompt
    for _ in range(40):
        likeliest = model(expected)[0][:, -1].argmax(-1, keepdim=True)
        expected = torch.cat([expected, likeliest], dim=-1)
    assert torch.equal(model.generate(prompt, count=40, temperature=1e-9, use_cache=use_cache), expected)


@pytest.mark.parametrize("use_cache", [True, False])
def test_the_cache_holds_all_tokens_but_the_last(model, use_cache):
    read, kept = [], []

    def note(_, inputs, outputs):
        read.append(inputs[0].shape[-1])
        kept.append(outputs[1][0].key.shape[-2])

    model.register_forward_hook(note)
    model.generate(torch.zeros(1, 70, dtype=torch.long), count=4, use_cache=use_cache)
    assert read == ([70, 1, 1, 1] if use_cache else [70, 71, 72, 73])
    assert kept == [70, 71, 72, 73]


def test_no_graph_is_kept(model):
    graphs = []
    model.register_forward_hook(lambda _, inputs, outputs: graphs.append(outputs[0].requires_grad))
    model.generate(torch.zeros(1, 3, dtype=torch.long), count=2)
    assert graphs == [False, False]
    assert model(torch.zeros(1, 3, dtype=torch.long))[0].requires_grad
