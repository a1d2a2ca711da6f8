"""The models are small: on more than one thread they wait for each other longer than they compute."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
