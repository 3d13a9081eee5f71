"""A host outside the cluster, in the network of its nodes: a container that the edge half installs.

The claim of the tests names it from the start, and it is installed while the first tests run, so that neither it nor
its token costs the gateway a rolling update. It is made only for tests that ask for it, by the fixture `box`.
"""

import hashlib
import os
import secrets
import shutil
import string
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from tests.cluster.claims import changed, real_model
from tests.cluster.stack import ROOT, Stack
from tests.support import claims
from tests.support.container_hosts import ContainerHosts

NAME = "box.edge.test"
REFERENCE = "credential://box/workload"
SECRET_KEY = "box.workload"
"""Key in the Secret of operator-supplied endpoint credentials, for `REFERENCE`."""


class Box:
    """The container host, and the claim that says what it is for."""

    def __init__(self, environment: dict[str, str], network: str) -> None:
        """Make the host and its authority; it is not installed yet.

        Args:
            environment: what podman and the playbooks need.
            network: podman's network of the cluster's nodes.
        """
        self.environment = environment
        outer = {**os.environ, **environment}
        for script in ("edge-images.sh", "edge-runtimes.sh"):
            subprocess.run(["bash", f"local/{script}"], cwd=ROOT, env=outer, check=True)
        self.subnet = subprocess.run(
            ["podman", "network", "inspect", network, "--format", "{{(index .Subnets 0).Subnet}}"],
            env=outer,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        self.folder = Path(tempfile.mkdtemp(prefix="hearth-box-"))
        platforms = [{"name": NAME, "image": "debian13", "endpoints": [{"id": "box"}]}]
        name = environment["HEARTH_CLUSTER"]
        self.hosts = ContainerHosts(name, self.folder, platforms, {**environment, "EDGE_NETWORK": network})
        # A run that was killed may have left it.
        subprocess.run(["podman", "rm", "--force", "--ignore", f"hearth-edge-{name}-box"], env=outer, check=True)
        self.project = self.folder / "project"
        (self.project / "stacks").mkdir(parents=True)
        credentials = self.folder / "state/credentials"
        credentials.mkdir(parents=True)
        # As an operator's own token would be there: the gateway begins with it, and the host is given it.
        letters = string.ascii_letters + string.digits
        (credentials / SECRET_KEY).write_text("".join(secrets.choice(letters) for _ in range(43)) + "\n")
        self._installed: threading.Thread | None = None
        self._error: BaseException | None = None
        try:
            self.hosts.create()
        except BaseException:
            self.destroy()
            raise

    def token(self, suffix: str = "") -> str:
        """The token of the host's sidecar, or the one that comes next."""
        return (self.folder / f"state/credentials/{SECRET_KEY}{suffix}").read_text()

    def claim(self, base: dict[str, Any], beside: Path) -> dict[str, Any]:
        """Return a claim with the host in it.

        Args:
            base: the claim.
            beside: folder for the trust bundle, in which the claim's other bundles are; both halves of Hearth read it
                by the same name below their own project.
        """
        shutil.copy(self.folder / "site/trust/edge-ca.v1.pem", beside / "edge-ca.pem")
        shutil.copytree(
            beside, self.project / beside.name, ignore=lambda _, names: {n for n in names if ".pem" not in n}
        )
        model = dict(
            line.removeprefix("EDGE_").split("=", 1)
            for line in (Path(self.environment["HEARTH_CACHE"]) / "edge/runtimes.env").read_text().split()
        )
        trusted = {
            "file": f"{beside.name}/edge-ca.pem",
            "version": base["trustBundles"]["scripted-ca"]["version"],
            "sha256": hashlib.sha256((beside / "edge-ca.pem").read_bytes()).hexdigest(),
        }
        return changed(
            base,
            networkZones={"edge-lan": {"dnsNames": ["*.edge.test"], "cidrs": [self.subnet], "ports": [8443]}},
            trustBundles={"edge-ca": trusted},
            endpoints={"box": _endpoint(model["MODEL_SHA256"], self.hosts.address(NAME))},
            deployments={"box-gemma": real_model("box")},
            aliases={"box": claims.alias("box-gemma", residency="here")},
        )

    def play(self, playbook: str, *arguments: str) -> str:
        """Run a playbook over the host with the claim that the cluster has."""
        project = ["-e", "hearth_environment=test", "-e", f"hearth_project={self.project}"]
        return self.hosts.play(playbook, "-i", str(self.hosts.inventory([NAME])), *project, *arguments)[0]

    def install(self, stack: Stack) -> None:
        """Begin to install the host.

        Args:
            stack: has the claim of the platform in its file; that is copied now.
        """
        shutil.copy(stack.file, self.project / "stacks/Pulumi.test.yaml")

        def run() -> None:
            try:
                self.play("playbooks/edge.yml")
            except BaseException as error:  # it is raised again where the host is asked for
                self._error = error

        self._installed = threading.Thread(target=run)
        self._installed.start()

    def wait(self) -> None:
        """Wait until the host is installed."""
        if self._installed is not None:
            self._installed.join()
        if self._error is not None:
            raise self._error

    def destroy(self) -> None:
        """Delete the host."""
        if self._installed is not None:
            self._installed.join()
        self.hosts.destroy()
        shutil.rmtree(self.folder)


def _endpoint(model_sha256: str, address: str) -> dict[str, Any]:
    return claims.endpoint(
        "box",
        f"https://{NAME}:8443/v1",
        # As in a home without a name server: nothing in the cluster can look the name up.
        {**claims.private_tls("edge-lan", "edge-ca", "light_gateway_sidecar"), "address": address},
        sidecar={"maxRequestBytes": 1_048_576},
        runtime=claims.runtime(
            {"file": "/srv/models/model.gguf"},
            f"sha256:{model_sha256}",
            placement="host",
            credentialRef="credential://box/runtime",
            threads=1,
            chatTemplate="gemma",
        ),
        runtimeCapacity=claims.capacity(
            "box",
            capacityDomainId="box/cpu",
            coldStartTimeoutMs=300_000,
            streamSetupTimeoutMs=120_000,
            requestTimeoutMs=300_000,
        ),
    )
