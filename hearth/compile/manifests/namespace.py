"""The namespace `system-llm`: present only where a claim enables the gateway (S3-2)."""

from hearth.compile.manifests.common import Manifest, labels, metadata, pod_security_labels
from hearth.compile.names import NAMESPACE


def namespace() -> list[Manifest]:
    """Return the namespace and its backstop for containers that state no bounds of their own."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE, "labels": {**labels(NAMESPACE, "namespace"), **pod_security_labels()}},
        },
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": metadata("llm-container-defaults", "namespace"),
            "spec": {
                "limits": [
                    {
                        "type": "Container",
                        "default": {"memory": "256Mi", "ephemeral-storage": "256Mi"},
                        "defaultRequest": {"cpu": "10m", "memory": "64Mi", "ephemeral-storage": "16Mi"},
                    }
                ]
            },
        },
    ]
