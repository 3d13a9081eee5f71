"""Statements that cover whatever an endpoint needs: what a runner would sign when everything passed."""

import json
from typing import Any

from hearth.evidence.coverage import CATALOGUE_VERSION, required_capabilities, required_probes
from hearth.evidence.document import Statement
from hearth.evidence.verify import Subject

PASSED: dict[str, Any] = {"outcome": "passed", "reason": None, "facts": {}}
MACHINE = "ab" * 32


def covering(subject: Subject, *, tested_at: str, valid_until: str, key_id: str) -> Statement:
    """Return a statement by which the subject passed."""
    expected = subject.expected
    tls = None if expected.termination == "plaintext" else MACHINE
    sidecar = vantage = None
    if expected.sidecar is not None:
        sidecar = {
            "profileVersion": expected.sidecar.profile_version,
            "configSha256": expected.sidecar.config_sha256,
            "certificateIdentitySha256": tls,
            "isolationEvidenceSha256": expected.sidecar.isolation_sha256,
            "rawPortReachable": False,
        }
        vantage = {
            "kind": "external_namespace",
            "environmentId": subject.environment,
            "sourceWorkloadId": "runner",
            "sourceNetworkZoneId": "runners",
            "sourceNetworkNamespace": {"machineSha256": MACHINE, "inode": 1, "podUid": None},
            "targetNetworkNamespace": {"machineSha256": MACHINE, "inode": 2, "podUid": None},
            "rawProbeTargetSha256": expected.sidecar.raw_target_sha256,
        }
    values = {
        "version": "hearth.evidence/v1",
        "kind": "live_endpoint",
        "environment": subject.environment,
        "endpoint": subject.endpoint_id,
        "endpointSha256": expected.endpoint_sha256,
        "profileSha256": expected.profile_sha256,
        "capacitySha256": expected.capacity_sha256,
        "physicalRuntimeId": expected.physical_runtime_id or "unknown",
        "runtimeVersion": None,
        "certificateSha256": tls,
        "publicKeySha256": tls,
        "state": "passed",
        "deployments": {
            name: {
                "revision": deployment.revision,
                "model": deployment.model,
                "operations": {
                    operation: dict.fromkeys(required_capabilities(expected, operation), PASSED)
                    for operation in deployment.operations
                },
            }
            for name, deployment in expected.deployments.items()
        },
        "sidecar": sidecar,
        "runnerVantage": vantage,
        "probes": dict.fromkeys(required_probes(expected), PASSED),
        "catalogueVersion": CATALOGUE_VERSION,
        "previousSha256": None,
        "testedAt": tested_at,
        "validUntil": valid_until,
        "signerKeyId": key_id,
    }
    return Statement.model_validate_json(json.dumps(values))
