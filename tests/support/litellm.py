"""Real LiteLLM on loopback, in both versions that Hearth runs: programs, and two replicas with a scripted upstream."""

import json
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from hearth.gatewayapi.management_api import ManagementApi
from hearth.topology.resolve import resolve
from tests.support.compiling import compiled_litellm
from tests.support.counted_models import CountedModels, counted_models
from tests.support.processes import Processes, free_port
from tests.support.proxy_claims import claim
from tests.support.scripted_upstream import Handler
from tests.support.serving import serving
from tests.support.tools import tool
from tests.wire.front_bench import MANAGEMENT, MANAGER, front_files
from tests.wire.haproxy import Haproxy

LITELLM_PROGRAMS = ("image", "published")
"""The LiteLLM of the image that is built here, and that of the published image."""

ROOT = Path(__file__).parents[2]
MODELS = ("fast", "other")
PERSON_BUDGET = "hearth-person"
KEY_CACHE_SECONDS = 5
WRITE_SECONDS = 5
"""How often the replicas write what was spent, and look for budgets whose period is over."""


@dataclass(frozen=True)
class LiteLLMProgram:
    """One version of LiteLLM, in a virtual environment with its database engine."""

    home: Path

    @classmethod
    def of(cls, name: str) -> "LiteLLMProgram":
        return cls(tool(f"litellm-{name}"))

    def command(self, config: Path, port: int) -> list[str]:
        return [str(self.home / "bin/litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]

    def environment(self, folder: Path) -> dict[str, str]:
        """What every process of it needs: its programs, and a home of its own in `folder`."""
        return {
            "PATH": f"{self.home / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "PRISMA_QUERY_ENGINE_BINARY": str(self.home / "engine/query-engine"),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            # The compiled configuration names the hook.
            "PYTHONPATH": str(ROOT),
        }

    def migrate(self, database_url: str, folder: Path) -> None:
        """Bring a database to this version's tables, as the migrations Job does with the image that is built here."""
        done = subprocess.run(
            [self.home / "bin/prisma", "migrate", "deploy"],
            env={**self.environment(folder), "DATABASE_URL": database_url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-2000:]


def is_alive(url: str) -> bool:
    """Whether LiteLLM answers there."""
    try:
        return httpx.get(f"{url}/health/liveliness", headers=MANAGER, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@dataclass(frozen=True)
class LiteLLM:
    """Two replicas over one database and one Valkey, each behind the intake and the compiled front."""

    master_key: str
    replicas: tuple[str, str]
    """Their doors past the intake."""
    clients: tuple[str, str]
    """Their doors for clients."""
    database: str
    """Name of the database."""
    upstream: str
    """Origin of the scripted upstream."""
    counted: CountedModels
    """The model servers that count."""
    folder: Path
    """Where their logs are, `litellm-<number>.log`."""

    def management_api(self, url: str | None = None) -> ManagementApi:
        """A client of a door past the intake; the first replica's, unless another one is named."""
        return ManagementApi(
            "the gateway on loopback", "Start it.", self.master_key, token=MANAGEMENT, base_url=url or self.replicas[0]
        )


@contextmanager
def litellm(program: LiteLLMProgram, folder: Path, database_url: str, valkey_port: int) -> Iterator[LiteLLM]:
    """Start two replicas over a migrated database, in front of a scripted upstream."""
    counted = CountedModels()
    master_key = f"sk-{secrets.token_hex(16)}"
    environment = {
        **program.environment(folder),
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOG": "ERROR",
        "LITELLM_MASTER_KEY": master_key,
        "LITELLM_SALT_KEY": f"sk-{secrets.token_hex(16)}",
        "STORE_MODEL_IN_DB": "False",
        "DISABLE_SCHEMA_UPDATE": "true",
        "DATABASE_URL": database_url,
        "DEFAULT_MAX_RETRIES": "0",
    }
    config, settings = folder / "config.yaml", folder / "settings.json"
    settings.write_text(json.dumps(_settings()))
    processes, fronts = Processes(folder), [_Front(folder / f"front-{number}") for number in range(2)]
    first, second = fronts
    with ExitStack() as stack:
        upstream = stack.enter_context(serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)))
        stack.enter_context(serving(counted))
        config.write_text(yaml.safe_dump(_config(upstream.server_address[1], counted, valkey_port)))
        stack.callback(processes.stop)
        for number, front in enumerate(fronts):
            arguments = [str(path) for path in (config, settings, front.client_socket, front.management_socket)]
            command = [str(program.home / "bin/python"), "-m", "hearth.intake", *arguments]
            processes.start(f"litellm-{number}", command, environment)
            stack.enter_context(front.running())
        processes.wait(lambda: all(is_alive(front.management) for front in fronts))
        origin = f"http://127.0.0.1:{upstream.server_address[1]}"
        yield LiteLLM(
            master_key,
            (first.management, second.management),
            (first.clients, second.clients),
            urlsplit(database_url).path[1:],
            origin,
            counted,
            folder,
        )


class _Front:
    """The compiled front of one replica, on ports of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self.client_socket, self.management_socket = folder / "client.sock", folder / "management.sock"
        self._ports = {name: free_port() for name in ("listen", "management", "probe", "guard_door")}
        self.clients = f"http://127.0.0.1:{self._ports['listen']}"
        self.management = f"http://127.0.0.1:{self._ports['management']}"

    def running(self) -> Haproxy:
        """Start it; the value ends it as a context."""
        listeners = {name: f"127.0.0.1:{port}" for name, port in self._ports.items()}
        doors = {"litellm": f"unix@{self.client_socket}", "management_door": f"unix@{self.management_socket}"}
        for name, text in front_files(resolve(claim()), self._folder, **listeners, **doors).items():
            (self._folder / name).write_text(text)
        program = str(tool("haproxy-3.0") / "haproxy")
        return Haproxy(program, self._folder, [self._folder / "front.cfg"], list(self._ports.values()))


def _config(upstream_port: int, counted: CountedModels, valkey_port: int) -> dict[str, Any]:
    base = f"http://127.0.0.1:{upstream_port}/v1"
    parameters = {"model": "openai/scripted", "api_base": base, "api_key": "unused"}
    prices = {"input_cost_per_token": 0.01, "output_cost_per_token": 0.02}
    settings = compiled_litellm()
    models = [{"model_name": name, "litellm_params": parameters, "model_info": prices} for name in MODELS]
    return {
        "model_list": [*models, *counted_models(counted)],
        # What the compiler says, but for addresses, credentials and what would take minutes.
        "general_settings": {
            **settings["general_settings"],
            "database_connection_pool_limit": 5,
            "user_api_key_cache_ttl": KEY_CACHE_SECONDS,
            "coordination_redis": {"host": "127.0.0.1", "port": valkey_port},
            "proxy_batch_write_at": WRITE_SECONDS,
            "proxy_budget_rescheduler_min_time": WRITE_SECONDS,
            "proxy_budget_rescheduler_max_time": WRITE_SECONDS + 1,
        },
        "router_settings": settings["router_settings"],
        "litellm_settings": {**settings["litellm_settings"], "max_end_user_budget_id": PERSON_BUDGET},
    }


def _settings() -> dict[str, Any]:
    """What the intake is told: the model servers that count, of which one has little time."""
    model = {"contextTokens": 8_192, "defaultMaxTokens": 1_024, "engines": ["llamaCpp"]}
    operations = ["chat", "completion", "embedding", "responses"]
    return {
        "version": 1,
        "maxRequestBytes": 16_777_216,
        "longestAnswerSeconds": 60,
        "models": {
            "spend": {**model, "operations": operations, "deadlineMs": 60_000},
            "spend-brief": {**model, "operations": operations, "deadlineMs": 2_000},
        },
    }
