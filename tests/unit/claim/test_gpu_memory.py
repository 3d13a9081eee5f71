"""What a model needs of a GPU's memory."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.claim.base import quantity_bytes
from hearth.claim.gpu_memory import (
    GIBIBYTE,
    KNOWN_ARCHITECTURES,
    WORKING_BYTES,
    architecture_of,
    demand,
    gibibytes,
    product_bytes,
    usable,
)
from hearth.claim.instances import Architecture, Instance
from tests.support import claims


def instance(**changes: Any) -> Instance:
    return Instance.model_validate_json(json.dumps({**claims.instance("a"), **changes}))


QWEN = KNOWN_ARCHITECTURES["qwen/qwen2.5-7b-instruct"]


def test_a_token_takes_two_vectors_of_every_layer() -> None:
    # 2 (keys and values) x 28 layers x 4 heads x 128 numbers x 2 bytes = 57,344 bytes a token.
    found = demand(instance(maxModelLen=1_000, maxNumSeqs=10), QWEN)
    assert found.cache == 573_440_000
    assert found.weights == 15_231_271_888
    assert found.total == 573_440_000 + 15_231_271_888 + WORKING_BYTES


def test_two_gpus_halve_the_weights_and_the_heads() -> None:
    found = demand(instance(gpus=2, maxModelLen=1_000, maxNumSeqs=10), QWEN)
    assert (found.weights, found.cache) == (7_615_635_944, 286_720_000)


def test_more_gpus_than_heads_repeat_them() -> None:
    assert demand(instance(gpus=8), QWEN).cache == demand(instance(gpus=4), QWEN).cache


def test_eight_bits_halve_the_cache_and_most_of_the_weights() -> None:
    found = demand(instance(kvCacheDtype="fp8", quantization="fp8", maxModelLen=1_000, maxNumSeqs=10), QWEN)
    assert (found.cache, found.weights) == (286_720_000, 8_377_199_539)


def test_a_declared_size_of_a_token_counts() -> None:
    latent = Architecture.model_validate({"layers": 1, "keyValueHeads": 1, "headSize": 1, "cacheBytesPerToken": 70_000})
    assert demand(instance(architecture=None, maxModelLen=10, maxNumSeqs=2), latent).cache == 1_400_000


def test_what_is_declared_wins_over_what_is_known() -> None:
    own = {"layers": 2, "keyValueHeads": 1, "headSize": 64}
    assert architecture_of(instance(architecture=own)) == Architecture.model_validate(own)
    assert architecture_of(instance()) == QWEN
    assert architecture_of(instance(modelId="acme/other")) is None


def test_known_products_and_quantities() -> None:
    assert product_bytes("NVIDIA-L4") == 23_034 * 1024**2
    assert product_bytes("unknown") is None
    assert (quantity_bytes("3Mi"), quantity_bytes("3Gi"), quantity_bytes("1Ti")) == (3 << 20, 3 << 30, 1 << 40)
    assert usable(100 * GIBIBYTE, "0.85") == 85 * GIBIBYTE


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 GiB"), (1, "0.1 GiB"), (GIBIBYTE, "1 GiB"), (int(1.55 * GIBIBYTE), "1.6 GiB")]
)
def test_sizes_in_words_are_rounded_up(size: int, text: str) -> None:
    assert gibibytes(size) == text


@given(st.integers(1, 10**6), st.integers(1, 256), st.integers(1, 15))
def test_more_context_more_requests_or_fewer_gpus_never_need_less(length: int, requests: int, gpus: int) -> None:
    here = demand(instance(maxModelLen=length, maxNumSeqs=requests, gpus=gpus), QWEN).total
    assert demand(instance(maxModelLen=length + 1, maxNumSeqs=requests, gpus=gpus), QWEN).total > here
    assert demand(instance(maxModelLen=length, maxNumSeqs=requests, gpus=gpus + 1), QWEN).total <= here
