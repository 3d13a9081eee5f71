"""The hosts of a Molecule scenario as its tests see them: from outside over the network, and from inside over SSH."""

import os
import ssl
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx
import openai
import testinfra
import yaml
from testinfra.host import Host as Inside

from hearth.claim.loader import LoadedClaim, load_claim_file, stack_file
from hearth.compile.host import HostPlan, host_plan
from hearth.topology.resolve import resolve
from tests.wire.client import Answer, Server

ROOT = Path(__file__).parents[2]
CHAT = "/v1/chat/completions"


def ephemeral() -> Path:
    """The scenario's own folder, which Molecule names in the environment."""
    return Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"])


def loaded_claim() -> LoadedClaim:
    return load_claim_file(stack_file("edge", ephemeral() / "site"))


def trust_context(*bundles: Path) -> ssl.SSLContext:
    """What a client of the endpoints trusts: the given bundles, or the one that the claim names now."""
    loaded = loaded_claim()
    text = "\n".join(file.read_text() for file in bundles) or "\n".join(loaded.bundles.values())
    context = ssl.create_default_context(cadata=text)
    context.set_alpn_protocols(["http/1.1"])
    return context


class ToAddress(httpx.HTTPTransport):
    """Connects to an address while Host, SNI and certificate verification stay those of the URL's name."""

    def __init__(self, address: str, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, retries=0)
        self.address = address

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions["sni_hostname"] = request.url.host
        request.url = request.url.copy_with(host=self.address)
        return super().handle_request(request)


@dataclass(frozen=True)
class Endpoint:
    """One sidecar of a host, and everything a client needs."""

    name: str
    host: str
    address: str
    port: int
    credential: str | None
    header: str
    bearer: bool
    config_sha256: str

    @property
    def token(self) -> str:
        return (ephemeral() / "state/credentials" / str(self.credential).replace("/", ".")).read_text().strip()

    def server(self, context: ssl.SSLContext | None = None) -> Server:
        return Server(self.address, self.port, context or trust_context(), self.host)

    def get(self, target: str) -> Answer:
        return self.server().request(
            "GET", target, None, {self.header: f"{'Bearer ' if self.bearer else ''}{self.token}"}
        )

    def is_healthy(self) -> bool:
        """Return whether it can be reached and says that the runtime behind it answers."""
        try:
            return self.get("/sidecar/health").status == 200
        except OSError:
            return False

    def client(self, context: ssl.SSLContext | None = None, token: str | None = None) -> openai.OpenAI:
        """The public client library, without retries that would hide a failure."""
        transport = ToAddress(self.address, context or trust_context())
        return openai.OpenAI(
            base_url=f"https://{self.host}:{self.port}/v1",
            api_key=token or self.token,
            http_client=httpx.Client(transport=transport, timeout=120),
            max_retries=0,
        )


@dataclass(frozen=True)
class EdgeHost:
    """One container host."""

    name: str
    variables: dict[str, object]

    @property
    def address(self) -> str:
        return str(self.variables["ansible_host"])

    @cached_property
    def inside(self) -> Inside:
        """Testinfra's view from inside, over SSH."""
        return testinfra.get_host(
            f"ssh://root@{self.address}",
            ssh_identity_file=str(ephemeral() / "id"),
            ssh_extra_args="-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
        )

    def run(self, command: str, *arguments: str) -> str:
        """Run a command on the host and return what it said; a failure is the test's."""
        return str(self.inside.check_output(command, *arguments))

    @property
    def endpoints(self) -> list[str]:
        """The endpoints that the host has; none for one that only stands outside the zone."""
        one = self.variables.get("hearth_endpoint")
        found = self.variables.get("hearth_endpoints") or ([one] if one else [])
        return list(found)  # type: ignore[call-overload]

    @property
    def plan(self) -> HostPlan:
        return host_plan(resolve(loaded_claim().claim), self.endpoints)

    @property
    def sidecars(self) -> list[Endpoint]:
        if not self.endpoints:
            return []
        return [
            Endpoint(
                one.endpoint,
                one.host,
                self.address,
                one.port,
                one.credential,
                one.credential_header,
                one.credential_is_bearer,
                one.config_sha256,
            )
            for one in self.plan.sidecars
        ]


def hosts() -> list[EdgeHost]:
    """The hosts of the running scenario."""
    folder = ephemeral() / "inventory"
    inventory = yaml.safe_load((folder / "ansible_inventory.yml").read_text())
    found = []
    for name, variables in inventory["all"]["hosts"].items():
        file = folder / "host_vars" / name
        own = yaml.safe_load(file.read_text()) if file.is_file() else {}
        found.append(EdgeHost(name, {**variables, **(own or {})}))
    return found


def play(playbook: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a playbook of the repository against the scenario, as an operator does."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("ANSIBLE_FORCE_COLOR", "PY_COLORS")},
        "ANSIBLE_CONFIG": str(ephemeral() / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "MOLECULE_PROJECT_DIRECTORY": str(ROOT),
    }
    command = ["ansible-playbook", "-i", str(ephemeral() / "inventory"), "-e", "hearth_serial=100%", *arguments]
    found = subprocess.run(
        [*command, str(ROOT / playbook)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if check and found.returncode != 0:
        raise AssertionError(f"{playbook} failed:\n{found.stdout[-6000:]}")
    return found


def on_control_host(folder: Path, text: str, names: Iterable[str], *arguments: str) -> str:
    """Run a play of a test's own over names that are no hosts; return what it said."""
    (folder / "play.yml").write_text(text)
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ephemeral() / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    environment["MOLECULE_PROJECT_DIRECTORY"] = str(ROOT)
    command = ["ansible-playbook", "-i", ",".join([*names, ""]), "-e", f"folder={folder}", *arguments]
    play_file = str(folder / "play.yml")
    return subprocess.run(
        [*command, play_file], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ).stdout
