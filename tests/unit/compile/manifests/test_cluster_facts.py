"""Facts of a cluster that is not like most: what the claim says of it stands wherever it matters."""

import json
from typing import Any

from tests.support.compiling import all_manifests, compile_claim
from tests.unit.claim import examples


def test_the_facts_of_the_cluster_are_the_claims() -> None:
    """Domain, DNS server and node-local DNS of another cluster are in everything that names them."""
    cluster = {
        "domain": "k8s.corp.example",
        "nodeLocalDns": ["fd00::a"],
        "dnsNamespace": "dns",
        "dnsLabels": {"dns/daemon": "default"},
    }
    found = compiled_with_cluster(cluster)
    text = json.dumps(found)
    assert "cluster.local" not in text
    assert "kube-dns" not in text
    assert "169.254.20.10" not in text
    for part in ("llm-cache.system-llm.svc.k8s.corp.example", '"dns/daemon": "default"', '"cidr": "fd00::a/128"'):
        assert part in text
    rule = next(
        item["spec"]["egress"][0]
        for item in found
        if item["metadata"]["name"] == "llm-gateway" and "egress" in item["spec"]
    )
    assert rule["to"][0]["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "dns"}}


def compiled_with_cluster(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    pod = "https://llm-pod.system-llm.svc.k8s.corp.example:8443/v1"
    changes = (examples.put("policy/cluster", cluster), examples.put("endpoints/pod/baseUrl", pod))
    loaded = examples.load(examples.claim(*changes))
    return all_manifests(loaded.claim, compile_claim(loaded.claim, bundles=loaded.bundles))
