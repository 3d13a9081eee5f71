"""Private instances and the Secrets of their tokens, as the Kubernetes API has them."""

import base64
import secrets
from typing import Any

from hearth.serve.token_store import Instance, Instances

NAMESPACE = "team-research"
ALPHA = Instance(name="alpha", uid="11111111-aaaa", slug="aB3_-defGh12")
BETA = Instance(name="beta", uid="22222222-bbbb", slug="Zz9_-defGh34")
INSTANCES = Instances(namespace=NAMESPACE, instances=(ALPHA, BETA))


def token() -> str:
    return secrets.token_urlsafe(32)


def secret(name: str, value: str, instance: Instance = ALPHA, **metadata: Any) -> dict[str, Any]:
    """The Secret of a token; `metadata` replaces parts of what it is bound by."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": instance.name, "uid": instance.uid}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"hearth.dev/private-instance": instance.name},
            "ownerReferences": [owner],
            **metadata,
        },
        "data": {"OPENAI_API_KEY": base64.b64encode(value.encode()).decode()},
    }
