"""The units of the runtimes, where an address has to be written as its reader expects it."""

from pathlib import Path
from typing import Any

import jinja2
import pytest

ROLES = Path(__file__).resolve().parents[3] / "roles"


def unit(role: str, address: str, **changes: Any) -> str:
    runtime: dict[str, Any] = {
        "name": "one",
        "address": address,
        "port": 8081,
        "models": [{"name": "m", "embedding": False}, {"name": "e", "embedding": True}],
        "embedding": False,
        "parallel_requests": 1,
        "queued_requests": 1,
        "start_timeout_seconds": 1,
        "context_tokens": 1,
        **changes,
    }
    environment = jinja2.Environment(autoescape=False)
    environment.filters |= {
        "combine": lambda one, other: one | other,
        "to_json": str,
        "dirname": str,
        "bool": bool,
        "quote": str,
    }
    template = environment.from_string((ROLES / role / "templates/unit.service.j2").read_text(encoding="utf-8"))
    return template.render({f"{role}_runtime": runtime, "common_model_file": "/m", f"{role}_key": ""})


def test_a_model_that_embeds_is_warmed_with_a_text() -> None:
    text = unit("ollama", "127.0.0.1")
    assert "/api/generate 1 '{'model': 'm'," in text
    assert "/api/embed 1 '{'model': 'e'," in text
    assert "'input': 'warm'}'" in text


def test_an_input_of_the_whole_context_is_embedded_at_once() -> None:
    """llama.cpp computes 512 tokens at once unless told otherwise, and refuses a longer input to an embedding."""
    (line,) = [
        line
        for line in unit("llama_cpp", "127.0.0.1", embedding=True, pooling="mean").splitlines()
        if "program" in line
    ]
    assert line.endswith("--ctx-size 1 --embedding --batch-size 1 --ubatch-size 1 --pooling mean")


def test_a_named_chat_template_is_read_as_a_name() -> None:
    (line,) = [line for line in unit("llama_cpp", "127.0.0.1", chat_template="gemma").splitlines() if "program" in line]
    assert line.endswith("--ctx-size 1 --no-jinja --chat-template gemma")


@pytest.mark.parametrize("role", ["ollama", "llama_cpp"])
@pytest.mark.parametrize(("address", "asked"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_a_runtime_is_asked_by_an_address_in_an_url(role: str, address: str, asked: str) -> None:
    assert f" http://{asked}:8081/" in unit(role, address)
    assert "//::" not in unit(role, address)


def test_ollama_listens_on_an_ipv6_address_in_brackets() -> None:
    assert "Environment=OLLAMA_HOST=[::1]:8081\n" in unit("ollama", "::1")
    assert "Environment=OLLAMA_HOST=0.0.0.0:8081\n" in unit("ollama", "0.0.0.0")
