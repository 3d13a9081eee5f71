"""The namespace `system-llm`: present only where a claim enables the gateway (S3-2)."""

from hearth.compile.manifests.common import Object, adoption, labels, metadata, pod_security_labels
from hearth.topology.topology import Topology


def namespace(topology: Topology) -> list[Object]:
    """Return the namespace and its backstop for containers that state no bounds of their own."""
    name = topology.namespace
    return [
        Object.named(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": name,
                    "labels": {**labels(name, "namespace"), **pod_security_labels()},
                    **adoption(adopted=topology.adopts_its_namespace),
                },
            }
        ),
        Object.named(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": metadata(topology.namespace, "llm-container-defaults", "namespace"),
                "spec": {
                    "limits": [
                        {
                            "type": "Container",
                            "default": {"memory": "256Mi", "ephemeral-storage": "256Mi"},
                            "defaultRequest": {"cpu": "10m", "memory": "64Mi", "ephemeral-storage": "16Mi"},
                        }
                    ]
                },
            }
        ),
    ]
