"""What is deployed together, and in which order."""

import pytest

from hearth.claim.problems import ClaimError
from hearth.compile.manifests.common import config_map
from tests.unit.compile.manifests.samples import claim_of, compiled, everything, found_groups, grouped, values, variants


@pytest.mark.parametrize("stack", ["local", "production"])
def test_nothing_exists_without_a_gateway(stack: str) -> None:
    claim = values(stack)
    claim["llm"]["enabled"] = False
    made = claim_of(claim)
    assert grouped(made) == {}
    assert everything(made) == []


def test_the_namespace_is_closed_before_anything_starts_in_it() -> None:
    order = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in everything(variants()["local"])]
    workloads = [index for index, (kind, _) in enumerate(order) if kind in ("Deployment", "StatefulSet", "Job")]
    policies = [
        index
        for index, manifest in enumerate(everything(variants()["local"]))
        if manifest["kind"] == "NetworkPolicy" and manifest["metadata"]["namespace"] == "system-llm"
    ]
    assert order[0] == ("Namespace", "system-llm")
    assert policies
    assert max(policies) < min(workloads)


def test_groups_are_in_the_order_of_what_needs_what() -> None:
    order = list(grouped(variants()["local"]))
    assert order == [
        "namespace",
        "trust",
        "services",
        "database",
        "cache",
        "migrations",
        "runtimes",
        "nodePools",
        "instances",
        "guard",
        "guard-0",
        "guard-1",
        "gateway",
        "mock",
        "runner",
        "tenants",
    ]
    # There are GPUs in another stack.
    assert [group for group in order if not grouped(variants()["local"])[group]] == ["nodePools", "instances"]


def test_every_group_comes_after_those_that_it_needs() -> None:
    found = found_groups(variants()["local"])
    # What the deployment makes is there as soon as the namespace is.
    there = {"secrets"}
    for group in found:
        assert set(group.needs) <= there, group.name
        there.add(group.name)
    assert {group.name for group in found if "secrets" in group.needs} == {
        "database",
        "cache",
        "migrations",
        "runtimes",
        "instances",
        "guard",
        "guard-0",
        "guard-1",
        "gateway",
        "mock",
    }


def test_objects_of_one_kind_and_namespace_have_names_of_their_own() -> None:
    for variant, claim in variants().items():
        objects = [each for group in found_groups(claim) for each in group.objects]
        names = [(each.kind, each.namespace, each.stable_name) for each in objects]
        assert len(set(names)) == len(names), variant


def test_an_external_database_leaves_no_database_here() -> None:
    made = grouped(variants()["external-database"])
    assert made["database"] == []
    assert made["migrations"]
    kinds = {manifest["kind"] for manifest in everything(variants()["external-database"])}
    assert not {"StatefulSet", "PersistentVolumeClaim"} & kinds


def test_the_mock_runs_only_where_there_is_no_gpu() -> None:
    assert {manifest["metadata"]["name"] for manifest in grouped(variants()["local"])["mock"]} > {"vllm-inference"}
    claim = values()
    claim["llm"]["gpuAcceleration"] = True
    assert grouped(claim_of(claim))["mock"] == []


def test_the_mock_is_never_offered() -> None:
    made = compiled(variants()["local"])
    assert "vllm-inference" not in made.litellm_yaml
    assert "vllm-inference" not in "".join(made.guard.files.values())


def test_namespaces_hold_their_pods_to_restricted_at_a_pinned_version() -> None:
    namespaces = [manifest for manifest in everything(variants()["local"]) if manifest["kind"] == "Namespace"]
    assert {manifest["metadata"]["name"] for manifest in namespaces} == {
        "system-llm",
        "system-llm-evidence",
        "tenant-family",
        "tenant-guests",
    }
    for manifest in namespaces:
        labels = manifest["metadata"]["labels"]
        for mode in ("enforce", "audit", "warn"):
            assert labels[f"pod-security.kubernetes.io/{mode}"] == "restricted"
            assert labels[f"pod-security.kubernetes.io/{mode}-version"] == "v1.34"


def test_a_tenant_has_a_labelled_namespace_no_token_and_closed_policies() -> None:
    made = [m for m in grouped(variants()["local"])["tenants"] if m["metadata"].get("namespace") == "tenant-family"]
    account = next(manifest for manifest in made if manifest["kind"] == "ServiceAccount")
    assert account["metadata"]["name"] == "default"
    assert account["automountServiceAccountToken"] is False
    assert any(manifest["kind"] == "NetworkPolicy" for manifest in made)
    namespace = next(m for m in grouped(variants()["local"])["tenants"] if m["metadata"]["name"] == "tenant-family")
    assert namespace["metadata"]["labels"]["hearth.dev/tenant"] == "family"


def test_a_tenant_may_name_its_namespace() -> None:
    claim = values()
    claim["tenants"]["family"]["namespace"] = "kitchen"
    names = {m["metadata"]["name"] for m in grouped(claim_of(claim))["tenants"] if m["kind"] == "Namespace"}
    assert names == {"kitchen", "tenant-guests"}


def test_nothing_is_larger_than_kubernetes_takes() -> None:
    text = "x" * (1_048_576 - 1_000)
    assert config_map("there", "fits", "test", {"file": text}).manifest["data"] == {"file": text}
    with pytest.raises(ClaimError, match=r"ConfigMap large-[0-9a-f]{10}: would have [0-9]+ bytes"):
        config_map("there", "large", "test", {"file": text + "x" * 1_000})
