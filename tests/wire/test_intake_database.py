"""The gateway's process with a database: keys, what they may see, and what LiteLLM's command does for connections."""

import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import psycopg
import pytest
import yaml

from tests.support.database import Postgres
from tests.support.intake import Gateway
from tests.support.litellm import LiteLLMProgram
from tests.unit.intake.bodies import BODIES

pytestmark = pytest.mark.wire

CHAT = BODIES["chat"]
POOL = 3
PREPARE = """
import os, sys
from pathlib import Path
from hearth.intake.server import prepare
given = prepare(Path(sys.argv[1]), 70)
print("URL", os.environ["DATABASE_URL"])
print("GIVEN", sorted((name, value) for name, value in given.items() if name != "log_config"))
print("LOG", given["log_config"]["formatters"])
"""


@pytest.fixture(scope="module")
def gateway(
    litellm_program: LiteLLMProgram,
    database_server: Postgres,
    migrated_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gateway]:
    version = litellm_program.home.name.removeprefix("litellm-").split("-")[0]
    started = Gateway(version, tmp_path_factory.mktemp("gateway"))
    try:
        config = yaml.safe_load((started.folder / "config.yaml").read_text())
        config["general_settings"] |= {
            "database_url": "os.environ/DATABASE_URL",
            "database_connection_pool_limit": POOL,
            "store_model_in_db": False,
        }
        (started.folder / "config.yaml").write_text(yaml.safe_dump(config))
        database = f"intake-{version}"
        started.environment |= {
            "DATABASE_URL": database_server.create(database, template=migrated_database),
            "LITELLM_SALT_KEY": "sk-0123456789abcdef",
            "STORE_MODEL_IN_DB": "False",
            "DISABLE_SCHEMA_UPDATE": "true",
        }
        started.start()
        yield started
    finally:
        started.stop()


def new_key(gateway: Gateway, *models: str) -> dict[str, str]:
    with gateway.client(management=True) as client:
        answer = client.post("/key/generate", json={"models": list(models)})
        assert answer.status_code == 200, answer.text
        return {"Authorization": f"Bearer {answer.json()['key']}"}


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_key_asks_for_its_own_models(gateway: Gateway) -> None:
    gateway.models.script()
    key = new_key(gateway, "gemma")
    with gateway.client() as client:
        assert client.post("/v1/chat/completions", json=CHAT, headers=key).status_code == 200
        assert [model["id"] for model in client.get("/v1/models", headers=key).json()["data"]] == ["gemma"]


def test_unknown_and_invisible_are_the_same(gateway: Gateway) -> None:
    gateway.models.script()
    key = new_key(gateway, "gemma")
    bodies: list[dict[str, Any]] = [
        {**CHAT, "model": "vendor/chat"},
        {**CHAT, "model": "vendor/none"},
        {**CHAT, "model": "vendor/chat", "top_k": 3},
        {**CHAT, "model": "vendor/chat", "max_tokens": 100_000},
        {**CHAT, "model": "vendor/none", "max_tokens": 100_000},
    ]
    with gateway.client() as client:
        answers = [client.post("/v1/chat/completions", json=body, headers=key) for body in bodies]
        named = [client.get(f"/v1/models/{name}", headers=key) for name in ("vendor/chat", "vendor/none")]
    assert {code(answer) for answer in (*answers, *named)} == {(404, "model_not_found")}
    assert len({answer.json()["error"]["message"] for answer in (*answers, *named)}) == 1
    assert not gateway.models.asked


def test_a_wrong_key_is_401_and_learns_nothing(gateway: Gateway) -> None:
    wrong = {"Authorization": "Bearer sk-0123456789abcdef"}
    with gateway.client() as client:
        for body in (CHAT, {**CHAT, "model": "nothing"}, {**CHAT, "model": "vendor/chat", "top_k": 1}):
            answer = client.post("/v1/chat/completions", json=body, headers=wrong)
            assert code(answer) == (401, "invalid_api_key")
            assert "sk-" not in answer.text
        assert code(client.get("/v1/models", headers=wrong)) == (401, "invalid_api_key")


def test_a_blocked_key_is_refused(gateway: Gateway) -> None:
    key = new_key(gateway, "gemma")
    with gateway.client(management=True) as client:
        assert client.post("/key/block", json={"key": key["Authorization"].split()[1]}).status_code == 200
    with gateway.client() as client:
        assert client.post("/v1/chat/completions", json=CHAT, headers=key).status_code == 401


def test_the_pool_is_as_large_as_declared(gateway: Gateway) -> None:
    gateway.models.script()
    key = new_key(gateway, "gemma")
    url = gateway.environment["DATABASE_URL"]
    samples: list[set[int]] = []
    done = threading.Event()

    def watch() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            processes = (
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            while not done.wait(0.05):
                samples.append({int(pid) for (pid,) in connection.execute(processes.encode())})

    watching = threading.Thread(target=watch)
    watching.start()

    def one(number: int) -> int:
        with gateway.client() as client:
            # Unknown keys are looked up in the database, each time.
            headers = key if number % 2 else {"Authorization": f"Bearer sk-unknown-{number:08}"}
            return client.post("/v1/chat/completions", json=CHAT, headers=headers).status_code

    try:
        with ThreadPoolExecutor(20) as pool:
            statuses = list(pool.map(one, range(60)))
        done.wait(1)
    finally:
        done.set()
        watching.join()
    # 503: LiteLLM waited too long for one of the few connections.
    assert {200, 401} <= set(statuses) <= {200, 401, 503}
    # One that LiteLLM has closed stays in the list until the server has noticed; those of the pool stay for a while.
    held = [set.intersection(*samples[end - 10 : end]) for end in range(10, len(samples) + 1)]
    assert 1 <= max(map(len, held)) <= POOL


def test_what_litellms_command_would_have_done_is_done(litellm_program: LiteLLMProgram, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    settings = {"general_settings": {"database_connection_pool_limit": 7}, "litellm_settings": {"json_logs": True}}
    config.write_text(yaml.safe_dump(settings))
    url = "postgresql://gateway:p%40ss@db.example:5432/litellm?sslmode=verify-full&sslrootcert=/etc/ca/ca.pem"
    done = subprocess.run(
        [litellm_program.home / "bin/python", "-c", PREPARE, config],
        env={**litellm_program.environment(tmp_path), "DATABASE_URL": url, "DISABLE_SCHEMA_UPDATE": "true"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("URL ", "GIVEN ", "LOG ")))
    found = parse_qs(urlsplit(lines["URL"]).query)
    assert found["connection_limit"] == ["7"]
    assert "pool_timeout" in found
    # Prisma knows no verify-full: it checks the certificate by these.
    assert found["sslmode"] == ["require"]
    assert found["sslaccept"] == ["strict"]
    assert found["sslcert"] == ["/etc/ca/ca.pem"]
    for part in ("('loop', 'uvloop')", "('timeout_graceful_shutdown', 70)", "('timeout_keep_alive', 75)"):
        assert part in lines["GIVEN"]
    assert "json" in lines["LOG"].lower()
