"""The way of a client in the gateway's Pod: HAProxy with the compiled front, both doors, and the room as mounted."""

import gzip
import hashlib
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from hearth.compile.intake import START, intake_program
from hearth.compile.names import MANAGEMENT_HEADER
from hearth.topology.resolve import resolve
from tests.support.intake import Gateway
from tests.support.proxy_claims import claim
from tests.support.tools import PROJECT, tool
from tests.unit.intake.bodies import BODIES
from tests.wire.client import Server, head, wait_for
from tests.wire.front_bench import MANAGEMENT as TOKEN
from tests.wire.front_bench import MANAGER, front_files
from tests.wire.haproxy import Haproxy

pytestmark = pytest.mark.wire

DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
CLIENT, MANAGEMENT, PROBE = "http://127.0.0.1:4000", "http://127.0.0.1:4001", "http://127.0.0.1:8406"


@pytest.fixture(scope="session")
def haproxy_program() -> str:
    """One series is enough here; what differs between them is the matter of test_front.py."""
    return str(tool("haproxy-3.0") / "haproxy")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """LiteLLM started from the files of the ConfigMap, laid out as the kubelet does it."""
    started = Gateway("image", tmp_path_factory.mktemp("gateway"))
    try:
        site = started.folder / "etc"
        for name, text in intake_program().files.items():
            path = site / "..2026_11_30" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (site / "..data").symlink_to("..2026_11_30")
        for name in ("hearth", START):
            (site / name).symlink_to(f"..data/{name}")
        del started.environment["PYTHONPATH"]
        started.start_by = [str(site / START)]
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def front(gateway: Gateway, haproxy_binary: str, folder: Path) -> Iterator[Gateway]:
    topology = resolve(claim())
    doors = {"litellm": f"unix@{gateway.client_socket}", "management_door": f"unix@{gateway.management_socket}"}
    files = front_files(topology, folder, **doors)
    for name, text in files.items():
        (folder / name).write_text(text)
    with Haproxy(haproxy_binary, folder, [folder / "front.cfg"], [4000, 4001, 8406]):
        assert wait_for(lambda: httpx.get(f"{PROBE}/readyz").status_code == 200)
        yield gateway


def test_a_client_reaches_the_model_server_through_the_intake(front: Gateway) -> None:
    front.models.script()
    key = {"Authorization": f"Bearer {front.key}"}
    answer = httpx.post(f"{CLIENT}/v1/chat/completions", json=BODIES["chat"], headers=key, timeout=60)
    assert answer.status_code == 200
    assert front.models.names == ["first"]
    assert httpx.get(f"{CLIENT}/v1/models/vendor/chat", headers=key).json()["id"] == "vendor/chat"


def test_a_chunked_body_is_read_within_the_bound(front: Gateway) -> None:
    headers = {"Authorization": f"Bearer {front.key}", "Content-Type": "application/json"}
    text = json.dumps(BODIES["chat"]).encode()

    def post(pieces: Iterable[bytes], **more: str) -> httpx.Response:
        content = iter(pieces)  # of unknown length, so that httpx sends chunks
        return httpx.post(f"{CLIENT}/v1/chat/completions", content=content, headers={**headers, **more}, timeout=60)

    front.models.script()
    assert post([text[:10], text[10:]]).status_code == 200
    assert front.models.names == ["first"]
    too_large = post([text[:-1], *[b" " * 1_048_576] * 17, text[-1:]])
    assert (too_large.status_code, too_large.json()["error"]["code"]) == (413, "request_too_large")
    compressed = post([gzip.compress(text)], **{"Content-Encoding": "gzip"})
    assert (compressed.status_code, compressed.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert front.models.names == ["first"]


def test_a_trailer_is_no_header(front: Gateway) -> None:
    """Neither a second credential nor an order: what comes behind the body says nothing."""
    text = json.dumps(BODIES["chat"]).encode()
    trailers = (
        b"Authorization: Bearer sk-other-0123456789\r\nX-LiteLLM-Timeout: 0.001\r\nX-LiteLLM-End-User-Id: bob\r\n"
    )
    request = head(
        "POST",
        "/v1/chat/completions",
        {
            "Authorization": f"Bearer {front.key}",
            "Content-Type": "application/json",
            "Transfer-Encoding": "chunked",
            "Trailer": "Authorization",
        },
    )
    front.models.script()
    answer = Server("127.0.0.1", 4000).send(request + b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(text), text, trailers), 60)
    assert answer.status == 200
    assert front.models.names == ["first"]


def test_the_intakes_errors_arrive_without_their_header(front: Gateway) -> None:
    key = {"Authorization": f"Bearer {front.key}"}
    body = {**BODIES["chat"], "api_base": "http://127.0.0.1:1"}
    answer = httpx.post(f"{CLIENT}/v1/chat/completions", json=body, headers=key, timeout=60)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unknown_parameter")
    assert "x-refusal" not in answer.headers


def test_port_forward_reaches_past_the_intake_and_clients_do_not(front: Gateway) -> None:
    key = {"Authorization": f"Bearer {front.key}"}
    assert httpx.get(f"{MANAGEMENT}/model/info", headers={**key, **MANAGER}, timeout=60).status_code == 200
    assert httpx.get(f"{CLIENT}/model/info", headers={**key, **MANAGER}, timeout=60).status_code == 404


MADE = """
import json, os, sys, urllib.error, urllib.request
headers = {"Authorization": "Bearer " + os.environ["LITELLM_MASTER_KEY"], **json.loads(sys.argv[2])}
try:
    urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/key/generate", b"{}", headers))
except urllib.error.HTTPError as error:
    print(error.code, json.loads(error.read())["error"]["code"])
"""


@pytest.mark.parametrize(
    "guess",
    [{}, {MANAGEMENT_HEADER: ""}, {MANAGEMENT_HEADER: "management"}, {MANAGEMENT_HEADER: DIGEST}, {"X-Refusal": TOKEN}],
    ids=["none", "empty", "its name", "its digest", "another header"],
)
def test_what_litellm_knows_makes_no_key_at_the_port(front: Gateway, guess: dict[str, str]) -> None:
    """A process with LiteLLM's environment, its master key among it, on loopback of its Pod."""
    done = subprocess.run(
        [front.program.home / "bin/python", "-c", MADE, MANAGEMENT, json.dumps(guess)],
        env=front.environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["401", "invalid_api_key"], done.stderr
    assert TOKEN not in json.dumps(front.environment)


def test_the_management_token_ends_at_the_front(front: Gateway) -> None:
    seen = json.dumps(front.models.asked) + front.log.read_text()
    assert TOKEN not in seen


def test_the_kubelet_asks_through_the_front(front: Gateway) -> None:
    assert httpx.get(f"{PROBE}/health/liveliness", timeout=60).status_code == 200


READ = {
    "chat": "blue",
    "stream": "blueblue",
    "completion": "blue",
    "embedding": [0.5],
    "responses": "blue",
    "model": "gemma",
    "aborted": "chat.completion.chunk",
}
"""What both libraries read of the scripted answers."""


def test_the_openai_library_of_python_works_from_end_to_end(front: Gateway) -> None:
    front.models.script()
    chat: dict[str, Any] = BODIES["chat"]
    with openai.OpenAI(base_url=f"{CLIENT}/v1", api_key=front.key, max_retries=0) as client:
        parts = client.chat.completions.create(**chat, stream=True, stream_options={"include_usage": True})
        found = {
            "chat": client.chat.completions.create(**chat, store=False, user="alice").choices[0].message.content,
            "stream": "".join(part.choices[0].delta.content or "" for part in parts if part.choices),
            "completion": client.completions.create(**BODIES["completion"]).choices[0].text,
            "embedding": client.embeddings.create(**BODIES["embedding"], encoding_format="float").data[0].embedding,
            "responses": client.responses.create(**BODIES["responses"]).output_text,
            "model": client.models.retrieve("gemma").id,
        }
        assert "gemma" in {model.id for model in client.models.list()}
        with client.chat.completions.create(**chat, stream=True) as stream:
            found["aborted"] = next(iter(stream)).object
        assert found == READ
        with pytest.raises(openai.NotFoundError) as unknown:
            client.chat.completions.create(**{**chat, "model": "nothing"})
        assert unknown.value.code == "model_not_found"
        with pytest.raises(openai.BadRequestError) as field:
            client.chat.completions.create(**chat, extra_body={"num_retries": 5})
        assert field.value.code == "unknown_parameter"
        with pytest.raises(openai.AuthenticationError) as key:
            client.with_options(api_key="none").chat.completions.create(**chat)
        assert key.value.code == "invalid_api_key"


def test_the_openai_library_of_node_works_from_end_to_end(front: Gateway) -> None:
    front.models.script()
    # A module is looked for beside the one that names it.
    program = tool("clients") / "openai.mjs"
    program.write_bytes((PROJECT / "tests/clients/node/openai.mjs").read_bytes())
    done = subprocess.run(
        [tool("litellm-image") / "bin/node", program, f"{CLIENT}/v1"],
        env={"OPENAI_API_KEY": front.key},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: found[name] for name in READ} == READ
    assert found["several"]
    assert "gemma" in found["models"]
    assert found["unknownModel"] == ["NotFoundError", 404, "model_not_found"]
    assert found["unknownField"] == ["BadRequestError", 400, "unknown_parameter"]
    assert found["wrongKey"] == ["AuthenticationError", 401, "invalid_api_key"]
