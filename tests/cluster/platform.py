"""What the cluster tests work on: a cluster, a stack with its claim, and a host beside it."""

import subprocess
from dataclasses import dataclass
from typing import Any

from hearth.compile.names import GUARDS
from tests.cluster.box import Box
from tests.cluster.kube import Kube
from tests.cluster.stack import ROOT, Stack

SCRIPTED_BEARER = "scripted-upstream-credential-0123456789"
STEADY_BEARER = "scripted-steady-credential-0123456789"


@dataclass
class Platform:
    """The platform of the test run."""

    kube: Kube
    stack: Stack
    claim: dict[str, Any]
    environment: dict[str, str]
    box: Box | None

    def gateway_pods(self) -> list[str]:
        return self.kube.pod_names("system-llm", "hearth.dev/role=gateway")

    def gateway_hosts(self) -> list[str]:
        """Addresses of the gateway's Pods."""
        return [pod["status"]["podIP"] for pod in self.kube.pods("system-llm", "hearth.dev/role=gateway")]

    def rolled_out(self) -> set[str]:
        """The gateway's Pods, as soon as all of them are of its newest template and Ready."""
        self.ready("deployment/llm-gateway")
        return set(self.gateway_pods())

    def guards_rolled_out(self) -> set[str]:
        """The guard's Pods, as soon as all of them are of their newest template and Ready."""
        for name in GUARDS:
            self.ready(f"deployment/{name}")
        return set(self.kube.pod_names("system-llm", "hearth.dev/role=guard"))

    def ready(self, workload: str) -> None:
        """Wait until a workload of the gateway's namespace has rolled out."""
        self.kube.run("-n", "system-llm", "rollout", "status", workload, "--timeout=600s")

    def key(self, namespace: str, app: str) -> str:
        return self.kube.secret(namespace, f"llm-credentials-{app}")["OPENAI_API_KEY"]

    def hearth_credentials(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run `hearth credentials`; it never says a credential."""
        command = [str(ROOT / ".venv/bin/hearth"), "credentials", *arguments, "-f", str(self.stack.file)]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=self.environment, cwd=ROOT)
        assert SCRIPTED_BEARER not in done.stdout + done.stderr
        assert not stdin.strip() or stdin.strip() not in done.stdout + done.stderr
        return done
