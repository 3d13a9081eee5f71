"""The units of the runtimes, where an address has to be written as its reader expects it."""

from pathlib import Path
from typing import Any

import jinja2
import pytest

ROLES = Path(__file__).resolve().parents[3] / "roles"


def unit(role: str, address: str) -> str:
    runtime: dict[str, Any] = {
        "name": "one",
        "address": address,
        "port": 8081,
        "models": [{"name": "m"}],
        "embedding": False,
        "parallel_requests": 1,
        "queued_requests": 1,
        "start_timeout_seconds": 1,
        "context_tokens": 1,
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


@pytest.mark.parametrize("role", ["ollama", "llama_cpp"])
@pytest.mark.parametrize(("address", "asked"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_a_runtime_is_asked_by_an_address_in_an_url(role: str, address: str, asked: str) -> None:
    assert f" http://{asked}:8081/" in unit(role, address)
    assert "//::" not in unit(role, address)


def test_ollama_listens_on_an_ipv6_address_in_brackets() -> None:
    assert "Environment=OLLAMA_HOST=[::1]:8081\n" in unit("ollama", "::1")
    assert "Environment=OLLAMA_HOST=0.0.0.0:8081\n" in unit("ollama", "0.0.0.0")
