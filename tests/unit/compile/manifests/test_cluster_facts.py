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
        if item["metadata"]["name"] == "llm-guard" and "egress" in item["spec"]
    )
    assert rule["to"][0]["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "dns"}}


def compiled_with_cluster(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    pod = "https://llm-pod.system-llm.svc.k8s.corp.example:8443/v1"
    changes = (examples.put("policy/cluster", cluster), examples.put("endpoints/pod/baseUrl", pod))
    loaded = examples.load(examples.claim(*changes))
    return all_manifests(loaded.claim, compile_claim(loaded.claim, bundles=loaded.bundles))


def images_and_accounts(registry: dict[str, Any], images: str = "pinned") -> tuple[set[str], list[dict[str, Any]]]:
    """Return every image of the claim's manifests, and the ServiceAccounts of Hearth's own Pods."""
    model = examples.put("policy/registry", registry)
    loaded = examples.load(examples.claim(model, examples.put("policy/images", images)))
    found = all_manifests(loaded.claim, compile_claim(loaded.claim, bundles=loaded.bundles))
    pods = [item["spec"]["template"]["spec"] for item in found if "template" in item.get("spec", {})]
    containers = [each for pod in pods for each in (*pod["containers"], *pod.get("initContainers", ()))]
    assert containers
    accounts = [item for item in found if item["kind"] == "ServiceAccount"]
    return {each["image"] for each in containers}, [a for a in accounts if a["metadata"]["namespace"] == "system-llm"]


def test_published_images_come_from_the_mirror_by_the_same_digests() -> None:
    plain, _ = images_and_accounts({})
    mirrored, _ = images_and_accounts({"mirror": "registry.corp.example:5000/proxy"})
    own = {"registry.example/m@sha256:" + "ab" * 32}
    assert own <= plain
    assert mirrored == {f"registry.corp.example:5000/proxy/{name}" for name in plain - own} | own
    assert all("@sha256:" in name for name in mirrored)


def test_every_pod_pulls_with_the_secret_that_the_claim_names() -> None:
    _, without = images_and_accounts({})
    assert not any("imagePullSecrets" in account for account in without)
    _, accounts = images_and_accounts({"pullSecret": "pull"}, images="localBuild")
    assert {account["metadata"]["name"] for account in accounts} == {item["metadata"]["name"] for item in without}
    assert [account["imagePullSecrets"] for account in accounts] == [[{"name": "pull"}]] * len(accounts)
