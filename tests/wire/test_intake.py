"""The intake and the hook in both versions of LiteLLM, as processes, before scripted model servers."""

import itertools
import json
import random
import socket
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import yaml

from hearth.intake.requests import OPERATION_PATHS
from hearth.intake.settings import load
from tests.support.intake import LEAK, START_SECONDS, VERSIONS, Gateway
from tests.support.litellm import LiteLLMProgram
from tests.support.litellm_reads import RECORD, kept_names
from tests.unit.intake.bodies import BODIES
from tests.unit.intake.test_admission import ATTACKS
from tests.unit.intake.test_many_bodies import admitted_bodies

pytestmark = pytest.mark.wire

PATHS = {operation: path for path, operation in OPERATION_PATHS.items()}
CHAT = BODIES["chat"]


@pytest.fixture
def gateway(intake_gateway: Gateway) -> Gateway:
    return intake_gateway


def ask(gateway: Gateway, operation: str = "chat", **fields: Any) -> httpx.Response:
    with gateway.client() as client:
        return client.post(PATHS[operation], json={**BODIES[operation], **fields})  # type: ignore[index]


def code(answer: httpx.Response) -> tuple[int, str]:
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return answer.status_code, error["code"]


@pytest.mark.parametrize("operation", PATHS)
def test_an_operation_reaches_the_model_server_as_it_was_admitted(gateway: Gateway, operation: str) -> None:
    gateway.models.script()
    answer = ask(gateway, operation, store=True, user="alice") if operation == "chat" else ask(gateway, operation)
    assert answer.status_code == 200
    [(name, path, body)] = gateway.models.asked
    assert (name, f"/v1{path}") == ("first", PATHS[operation])  # type: ignore[index]
    limit = {
        "chat": {"max_tokens": 1_024},
        "completion": {"max_tokens": 1_024},
        "responses": {"max_output_tokens": 1_024},
    }
    assert body == {**BODIES[operation], "model": "first", **limit.get(operation, {})}  # type: ignore[index]


@pytest.mark.parametrize("operation", ["chat", "completion", "responses"])
def test_an_engines_own_field_reaches_it(gateway: Gateway, operation: str) -> None:
    gateway.models.script()
    assert ask(gateway, operation, top_k=7, n_probs=3).status_code == 200
    [(_, _, body)] = gateway.models.asked
    assert (body["top_k"], body["n_probs"]) == (7, 3)
    assert "extra_body" not in body


def test_no_attack_reaches_anybody(gateway: Gateway) -> None:
    gateway.models.script()
    assert {name for name, fields in ATTACKS.items() if code(ask(gateway, **fields))[0] not in (400, 404)} == set()
    assert not gateway.models.asked


def test_unknown_and_wrong(gateway: Gateway) -> None:
    assert code(ask(gateway, model="nothing")) == (404, "model_not_found")
    assert code(ask(gateway, "embedding", model="vendor/chat")) == (400, "operation_not_offered")
    with gateway.client() as client:
        wrong = {"Authorization": "Bearer sk-0123456789abcdef"}
        for answer in (
            client.post(PATHS["chat"], json=CHAT, headers=wrong),
            client.post(PATHS["chat"], json={**CHAT, "model": "nothing"}, headers=wrong),
            client.get("/v1/models", headers=wrong),
        ):
            # LiteLLM looks keys up in the database, and there is none here
            assert answer.status_code in (401, 400, 500, 503)
            assert "litellm" not in answer.text.lower()
        basic = client.post(PATHS["chat"], json=CHAT, headers={"Authorization": f"Basic {gateway.key}"})
        assert code(basic) == (401, "invalid_api_key")


def test_models_are_listed_and_found(gateway: Gateway) -> None:
    with gateway.client() as client:
        assert {model["id"] for model in client.get("/v1/models").json()["data"]} == {
            "gemma",
            "vendor/chat",
            "brief",
            "vectors",
        }
        assert client.get("/v1/models/vendor/chat").json()["id"] == "vendor/chat"
        assert code(client.get("/v1/models/nothing")) == (404, "model_not_found")


@pytest.mark.parametrize(
    "path", ["/model/info", "/key/list", "/health", "/", "/openapi.json", "/v1/models?x=1", "/metrics"]
)
def test_the_clients_door_has_nothing_else(gateway: Gateway, path: str) -> None:
    with gateway.client() as client:
        assert code(client.get(path)) == (404, "not_found")
    with gateway.client(management=True) as client:
        assert client.get("/model/info").status_code == 200  # the other door leads past the intake


def test_no_header_opens_the_other_door(gateway: Gateway) -> None:
    forged = {
        "X-Forwarded-For": "1.1.1.1",
        "X-Forwarded-Prefix": "/x",
        "Forwarded": "host=x",
        "X-Original-URL": "/key/list",
    }
    with gateway.client() as client:
        for host in ("gateway", str(gateway.management_socket), "management.sock"):
            answer = client.get("/model/info", headers={**forged, "Host": host})
            assert code(answer) == (404, "not_found")


def raw(gateway: Gateway, text: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(gateway.client_socket))
        connection.sendall(text)
        found = b""
        while b"\r\n\r\n" not in found.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n"):
            piece = connection.recv(65_536)
            assert piece, found
            found += piece
        return found


def test_websockets_and_h2c_are_not_spoken(gateway: Gateway) -> None:
    start = b"GET /v1/realtime?model=gemma HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    assert raw(gateway, start + key + f"Authorization: Bearer {gateway.key}\r\n\r\n".encode()).startswith(
        b"HTTP/1.1 404"
    )


def test_a_chunked_body_and_100_continue(gateway: Gateway) -> None:
    gateway.models.script()
    body = json.dumps(CHAT).encode()
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (body[:9], body[9:])) + b"0\r\n\r\n"
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {gateway.key}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    )
    found = raw(gateway, head.encode() + chunks)
    assert found.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


ENDS = {
    "zone_denied": (502, "upstream_refused"),
    "redirect_refused": (502, "upstream_refused"),
    "invalid_api_key": (502, "upstream_refused"),
    "credential_missing": (401, "credential_missing"),
    "bad_request": (400, "bad_request"),
    "request_too_large": (413, "request_too_large"),
    "response_too_large": (502, "bad_response"),
    "heard-of-never": (502, "upstream_refused"),
}
GOES_ON = (
    "queue_full",
    "unavailable",
    "gateway_timeout",
    "name_unresolved",
    "internal_error",
    "bad_response",
    "not_eligible",
)
STATUS = {
    "bad_request": 400,
    "credential_missing": 401,
    "invalid_api_key": 401,
    "request_too_large": 413,
    "queue_full": 429,
    "internal_error": 500,
    "unavailable": 503,
    "name_unresolved": 503,
    "not_eligible": 503,
    "gateway_timeout": 504,
}


def refusing(refusal: str, **headers: str) -> dict[str, Any]:
    return {"status": STATUS.get(refusal, 502), "headers": {"X-Refusal": refusal, **headers}}


WAYS = [("chat", False), ("chat", True), ("completion", False), ("embedding", False), ("responses", False)]


@pytest.mark.parametrize(("operation", "stream"), WAYS)
@pytest.mark.parametrize("refusal", ENDS)
def test_a_refusal_for_security_ends_the_request(gateway: Gateway, refusal: str, operation: str, stream: bool) -> None:
    gateway.models.script(first=refusing(refusal))
    answer = ask(gateway, operation, **({"stream": True} if stream else {}))
    assert code(answer) == ENDS[refusal]
    assert gateway.models.names == ["first"]
    assert LEAK not in answer.text


@pytest.mark.parametrize(("operation", "stream"), WAYS)
@pytest.mark.parametrize("refusal", GOES_ON)
def test_full_down_or_broken_goes_on_to_the_next(gateway: Gateway, refusal: str, operation: str, stream: bool) -> None:
    gateway.models.script(first=refusing(refusal))
    assert ask(gateway, operation, **({"stream": True} if stream else {})).status_code == 200
    assert gateway.models.names == ["first", "second"]


@pytest.mark.parametrize(("operation", "stream"), WAYS)
@pytest.mark.parametrize("status", [400, 422])
def test_a_wrong_request_ends_and_the_model_servers_text_is_seen(
    gateway: Gateway, status: int, operation: str, stream: bool
) -> None:
    gateway.models.script(first={"status": status})
    answer = ask(gateway, operation, **({"stream": True} if stream else {}))
    assert code(answer) == (status, "upstream_rejected")
    assert answer.json()["error"]["message"] == LEAK
    assert gateway.models.names == ["first"]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, "closed"])
def test_a_model_server_that_fails_is_asked_once(gateway: Gateway, status: Any) -> None:
    gateway.models.script(first={"status": status}, second={"status": status})
    assert ask(gateway).status_code == 200
    assert gateway.models.names == ["first", "second", "third"]


def test_the_last_failure_is_told(gateway: Gateway) -> None:
    gateway.models.script(
        first={"status": 500}, second=refusing("unavailable"), third=refusing("queue_full", **{"Retry-After": "7"})
    )
    answer = ask(gateway)
    assert code(answer) == (429, "queue_full")
    assert answer.headers["retry-after"] == "7"
    assert gateway.models.names == ["first", "second", "third"]


def test_vectors_come_from_their_own_space_or_not_at_all(gateway: Gateway) -> None:
    gateway.models.script()
    assert ask(gateway, "embedding", model="vectors").status_code == 200
    assert gateway.models.names == ["second"]
    gateway.models.script(second=refusing("unavailable"))
    assert code(ask(gateway, "embedding", model="vectors")) == (503, "unavailable")
    assert gateway.models.names == ["second"]


def test_many_at_once_are_told_apart(gateway: Gateway) -> None:
    gateway.models.script(first={**refusing("queue_full"), "delay": 0.2}, vendor=refusing("zone_denied"))
    found: dict[int, httpx.Response] = {}

    def one(number: int) -> None:
        found[number] = ask(gateway, model="gemma" if number % 2 else "vendor/chat")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, answer in found.items():
        assert answer.status_code == (200 if number % 2 else 502)
    assert sorted(gateway.models.names) == ["first"] * 10 + ["second"] * 10 + ["vendor"] * 10


def test_an_error_in_a_stream_is_one_of_the_table(gateway: Gateway) -> None:
    gateway.models.script(first={"broken": True})
    answer = ask(gateway, stream=True)
    assert answer.status_code == 200
    assert '"content":"blue"' in answer.text
    assert '"code":"upstream_failed"' in answer.text
    assert LEAK not in answer.text
    assert "litellm" not in answer.text.lower()
    assert gateway.models.names == ["first"]


def test_a_client_that_goes_away_ends_the_model_servers_work(gateway: Gateway) -> None:
    gateway.models.script(first={"chunks": 200, "pause": 0.1})
    before = len(gateway.models.asked)
    with gateway.client() as client, client.stream("POST", PATHS["chat"], json={**CHAT, "stream": True}) as answer:
        next(answer.iter_lines())
    assert len(gateway.models.asked) == before + 1
    # and the process serves the next one
    gateway.models.script()
    assert ask(gateway).status_code == 200


def test_the_openai_library_streams_and_reads_errors(gateway: Gateway) -> None:
    gateway.models.script()
    with gateway.client() as http:
        client = openai.OpenAI(api_key=gateway.key, base_url="http://gateway/v1", http_client=http, max_retries=0)
        parts = client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}, store=False)
        assert "".join(part.choices[0].delta.content or "" for part in parts if part.choices) == "blueblue"
        assert client.embeddings.create(**BODIES["embedding"]).data[0].embedding == [0.5]
        assert client.responses.create(**BODIES["responses"]).output_text == "blue"
        with pytest.raises(openai.NotFoundError) as caught:
            client.chat.completions.create(**{**CHAT, "model": "nothing"})
        assert caught.value.code == "model_not_found"
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(**CHAT, extra_body={"num_retries": 5})
        assert refused.value.code == "unknown_parameter"


def test_logs_are_json(gateway: Gateway) -> None:
    ask(gateway)
    lines = [line for line in gateway.log.read_text().splitlines() if "POST /v1/chat/completions" in line]
    assert lines
    assert all(json.loads(line)["level"] for line in lines)


def test_bodies_made_at_random_do_no_harm(gateway: Gateway) -> None:
    gateway.models.script()
    choose = random.Random(8)
    values = [None, True, -1, 0, 1, 10**30, 0.5, "", "x", "\x00", [], [1], {}, {"a": {"b": []}}, [[]] * 3, "9" * 400]
    names = RECORD.read_text().split()
    with gateway.client() as client:
        for _ in range(300):
            operation = choose.choice(list(BODIES))
            body = dict(BODIES[operation])
            for _ in range(choose.randrange(1, 4)):
                body[choose.choice([*names[:: choose.randrange(1, 50)], *body, "stop", "tools", "user", "n"])] = (
                    choose.choice(values)
                )
            answer = client.post(
                PATHS[operation], content=json.dumps(body), headers={"Content-Type": "application/json"}
            )
            assert answer.status_code < 500, (body, answer.text)
    assert gateway.process is not None
    assert gateway.process.poll() is None


def test_litellm_bears_what_the_intake_passes(gateway: Gateway) -> None:
    bears(gateway, 100)


@pytest.mark.long
def test_litellm_bears_2000_bodies_that_the_intake_passes(gateway: Gateway) -> None:
    bears(gateway, 2_000)


def bears(gateway: Gateway, count: int) -> None:
    """Send bodies that the intake passes; each has to reach the model server once, and to be answered."""
    gateway.models.script()
    assert gateway.process is not None
    before, failed = gateway.process.pid, []
    bodies = admitted_bodies(load(gateway.folder / "settings.json"), seed=count)
    with gateway.client() as client:
        for sent, (operation, text) in enumerate(itertools.islice(bodies, count)):
            answer = client.post(PATHS[operation], content=text, headers={"Content-Type": "application/json"})
            if answer.status_code != 200 or len(gateway.models.asked) != sent + 1 - len(failed):
                failed.append((operation, text, answer.status_code, answer.text))
    assert failed == []
    assert (gateway.process.pid, gateway.process.poll()) == (before, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_litellm_names_nothing_that_is_not_on_record(version: str) -> None:
    """A new LiteLLM that could read a new name turns this red; then the record is made anew, and the tests judge it."""
    assert sorted(kept_names(LiteLLMProgram.of(version).home) - set(RECORD.read_text().split())) == []


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_a_stream_survives_the_end_of_the_process(version: str, tmp_path: Path) -> None:
    gateway = Gateway(version, tmp_path, longest=40)
    try:
        gateway.start()
        gateway.models.script(first={"chunks": 36, "pause": 1})
        found: list[str] = []

        def read() -> None:
            with (
                gateway.client() as client,
                client.stream("POST", PATHS["chat"], json={**CHAT, "stream": True}) as answer,
            ):
                found.extend(answer.iter_lines())

        reader = threading.Thread(target=read)
        reader.start()
        time.sleep(1)
        assert gateway.process is not None
        gateway.process.terminate()
        reader.join()
        assert "data: [DONE]" in found
        assert sum('"content":"blue"' in line for line in found) == 36
        gateway.process.wait(30)
    finally:
        gateway.stop()


@pytest.mark.parametrize("version", VERSIONS)
def test_without_key_and_hook_there_is_no_process(version: str, tmp_path: Path) -> None:
    gateway = Gateway(version, tmp_path)
    try:
        del gateway.environment["LITELLM_MASTER_KEY"]
        config = yaml.safe_load((tmp_path / "config.yaml").read_text())
        del config["litellm_settings"]["callbacks"]
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
        gateway.start(wait=False)
        assert gateway.process is not None
        assert gateway.process.wait(START_SECONDS) != 0
    finally:
        gateway.stop()
