"""The models in Ollama's store stay the declared ones, whatever happened to the files, and come from nowhere else."""

import re

from tests.support.edge import EdgeHost, Endpoint, ephemeral, hosts, play

CLAIM = "site/stacks/Pulumi.edge.yaml"


def first() -> tuple[EdgeHost, Endpoint, str]:
    """A host, the endpoint of its Ollama, and the folder of that one's models."""
    host = hosts()[0]
    name = next(runtime.name for runtime in host.plan.runtimes if runtime.engine == "ollama")
    endpoint = next(one for one in host.sidecars if one.name == name)
    return host, endpoint, f"/var/lib/hearth/ollama/{name}/models"


def test_what_only_the_library_has_is_refused_where_nothing_is_downloaded() -> None:
    host, endpoint, _ = first()
    file = ephemeral() / CLAIM
    text = file.read_text()
    before, after = text.split(f"    {endpoint.name}:\n", 1)
    source = f'{{source: {{ollama: "gemma3-270m"}}, digest: "sha256:{"0" * 64}"}}'
    after = re.sub(r"\{source: \{[^}]*\}, digest: [^}]*\}", source, after, count=1)
    file.write_text(f"{before}    {endpoint.name}:\n{after}")
    try:
        found = play("playbooks/edge.yml", "--limit", host.name, "-e", "common_airgap_directory=/srv", check=False)
    finally:
        file.write_text(text)
    said = " ".join(found.stdout.split())
    assert (
        f"{host.name}: common_airgap_directory is set, so that nothing is downloaded, and gemma3-270m can only" in said
    )
    assert "changed=0" in said


def test_a_changed_part_of_a_model_is_brought_anew_by_a_user_with_another_number() -> None:
    """The models outlived the roles' user, and one of them was damaged meanwhile."""
    host, endpoint, models = first()
    blob = f"{models}/blobs/$(ls -S {models}/blobs | head -1)"
    digest, owner = host.run(f"sha256sum {blob} | cut -c1-64"), host.run("id -u hearth-ollama")
    play("playbooks/remove.yml", "--limit", host.name, "-e", "hearth_keep_models=true")
    host.run(f"useradd --system --uid {owner} somebody-else")
    try:
        host.run(f"printf damage | dd of={blob} conv=notrunc status=none")
        assert "failed=0" in play("playbooks/edge.yml", "--limit", host.name, "--check").stdout
        play("playbooks/edge.yml", "--limit", host.name)
        assert host.run("id -u hearth-ollama") != owner
        assert host.run(f"find {models} ! -user hearth-ollama") == ""
        assert host.run(f"sha256sum {blob} | cut -c1-64") == digest
        with endpoint.client() as client:
            answer = client.chat.completions.create(
                model="gemma3-270m", messages=[{"role": "user", "content": "Hello"}], max_tokens=2
            )
        assert answer.choices
    finally:
        host.run("userdel somebody-else")


def test_what_runs_is_started_anew_with_the_part_that_was_brought() -> None:
    host, endpoint, models = first()
    blob = f"{models}/blobs/$(ls -S {models}/blobs | head -1)"
    unit = f"hearth-ollama-{endpoint.name}"
    pid = host.run(f"systemctl show -P MainPID {unit}")
    host.run(f"printf damage | dd of={blob} conv=notrunc status=none")
    play("playbooks/edge.yml", "--limit", host.name)
    assert host.run(f"systemctl show -P MainPID {unit}") != pid
    assert host.run(f"sha256sum {blob} | cut -c1-64") == host.run(f"basename {blob} | cut -c8-")
