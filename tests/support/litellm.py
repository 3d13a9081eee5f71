"""Real LiteLLM on loopback: PostgreSQL, Valkey, two replicas, and a scripted upstream behind them.

LiteLLM and Valkey come from the contents of their images, which `images/litellm/prepare.sh DIR` and
`images/valkey/prepare.sh DIR` lay out; HEARTH_LITELLM_SITE names that folder. PostgreSQL is the machine's own. Every
port is a free one, every file is in a temporary folder, and every process is ended by its id.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import yaml

from hearth.versions import versions
from tests.support.scripted_upstream import Handler

SITE = "HEARTH_LITELLM_SITE"
START_SECONDS = 180
MODELS = ("fast", "other")
PERSON_BUDGET = "hearth-person"
KEY_CACHE_SECONDS = 5


def missing() -> str | None:
    """Why LiteLLM cannot be started here; none when it can."""
    if not os.environ.get(SITE):
        return f"{SITE} names no folder made by images/litellm/prepare.sh and images/valkey/prepare.sh"
    site = Path(os.environ[SITE])
    for part in ("opt/litellm/bin/litellm", "usr/bin/valkey-server"):
        if not (site / part).is_file():
            return f"{SITE} has no {part}"
    if f"{sys.version_info[0]}.{sys.version_info[1]}" != versions()["IMAGES_PYTHON"]:
        return f"the packages in {SITE} are for Python {versions()['IMAGES_PYTHON']}"
    return None if _postgres() else "PostgreSQL's server programs are not installed"


def _postgres() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LiteLLM:
    """Two replicas over one database and one Valkey."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = Path(os.environ[SITE])
        self.master_key = f"sk-{secrets.token_hex(16)}"
        self.replicas: list[str] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._upstream = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._database_port, self._valkey_port = free_port(), free_port()

    def __enter__(self) -> "LiteLLM":
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def database_url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self._database_port}/postgres"

    def _start(self) -> None:
        threading.Thread(target=self._upstream.serve_forever, daemon=True).start()
        self._start_postgres()
        self._run("valkey", [str(self.site / "usr/bin/valkey-server"), "--bind", "127.0.0.1", "--save", "", "--port",
                             str(self._valkey_port)], {})  # fmt: skip
        prisma = self.site / "opt/litellm/bin/prisma"
        migrations = subprocess.run(
            [sys.executable, str(prisma), "migrate", "deploy"],
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert migrations.returncode == 0, migrations.stdout[-2000:]
        config = self.folder / "config.yaml"
        config.write_text(yaml.safe_dump(self._config()))
        for number in range(2):
            port = free_port()
            litellm = str(self.site / "opt/litellm/bin/litellm")
            command = [sys.executable, litellm, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
            self._run(f"litellm-{number}", command, self._environment())
            self.replicas.append(f"http://127.0.0.1:{port}")
        for replica in self.replicas:
            self._wait(replica)

    def _start_postgres(self) -> None:
        programs = _postgres()
        assert programs is not None
        data, user = self.folder / "database", None
        data.mkdir()
        if os.geteuid() == 0:  # PostgreSQL refuses root
            user = "nobody"
            for part in (*reversed(self.folder.parents), self.folder):
                if str(part).startswith(("/tmp/", "/var/tmp/")):
                    part.chmod(0o755)
            shutil.chown(data, user)
        subprocess.run(
            [
                str(programs / "initdb"),
                "-D",
                str(data / "cluster"),
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "-N",
            ],
            user=user,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            check=True,
            capture_output=True,
        )
        settings = [f"port={self._database_port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={data}"]
        settings += ["fsync=off", "max_connections=60"]
        options = [part for setting in settings for part in ("-c", setting)]
        self._run("postgres", [str(programs / "postgres"), "-D", str(data / "cluster"), *options], {}, user=user)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._database_port)) == 0:
                    break
            time.sleep(0.1)
        time.sleep(1)

    def _environment(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        litellm = self.site / "opt/litellm"
        return {
            "PATH": f"{litellm / 'bin'}:/usr/bin:/bin",
            "HOME": str(home),
            "PYTHONPATH": str(litellm / "site"),
            "PRISMA_QUERY_ENGINE_BINARY": str(litellm / "engine/query-engine"),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_LOG": "ERROR",
            "LITELLM_MASTER_KEY": self.master_key,
            "LITELLM_SALT_KEY": f"sk-{secrets.token_hex(16)}",
            "STORE_MODEL_IN_DB": "False",
            "DISABLE_SCHEMA_UPDATE": "true",
            "DATABASE_URL": self.database_url,
        }

    def _config(self) -> dict[str, Any]:
        upstream = f"http://127.0.0.1:{self._upstream.server_address[1]}/v1"
        parameters = {"model": "openai/scripted", "api_base": upstream, "api_key": "unused"}
        prices = {"input_cost_per_token": 0.01, "output_cost_per_token": 0.02}
        cache = {"host": "127.0.0.1", "port": self._valkey_port}
        return {
            "model_list": [{"model_name": name, "litellm_params": {**parameters, **prices}} for name in MODELS],
            "general_settings": {
                "master_key": "os.environ/LITELLM_MASTER_KEY",
                "database_url": "os.environ/DATABASE_URL",
                "store_model_in_db": False,
                "database_connection_pool_limit": 5,
                "user_api_key_cache_ttl": KEY_CACHE_SECONDS,
                "coordination_redis": cache,
                "fail_closed_budget_enforcement": True,
                "fail_closed_rate_limit_enforcement": True,
            },
            "litellm_settings": {"budget_exceeded_status_code": 429, "max_end_user_budget_id": PERSON_BUDGET},
        }

    def _run(self, name: str, command: list[str], environment: dict[str, str], *, user: str | None = None) -> None:
        log = (self.folder / f"{name}.log").open("wb")
        self._processes.append(
            subprocess.Popen(
                command,
                cwd=self.folder if user is None else "/",
                env=environment or {"PATH": "/usr/bin:/bin"},
                stdout=log,
                stderr=subprocess.STDOUT,
                user=user,
            )
        )
        log.close()

    def _wait(self, replica: str) -> None:
        for _ in range(START_SECONDS):
            try:
                if httpx.get(f"{replica}/health/liveliness", timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            if any(process.poll() is not None for process in self._processes):
                break
            time.sleep(1)
        logs = "\n".join(f"{log.name}:\n{log.read_text()[-2000:]}" for log in sorted(self.folder.glob("*.log")))
        raise AssertionError(f"LiteLLM did not start:\n{logs}")

    def stop(self) -> None:
        self._upstream.shutdown()
        self._upstream.server_close()
        for process in reversed(self._processes):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
