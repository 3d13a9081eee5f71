"""An endpoint that gets another name keeps its ports, and its older units make way just before the new ones start."""

import re

from tests.support.edge import EdgeHost, ephemeral, play

RENAMED = ("-e", '{"hearth_endpoints": ["first", "renamed"]}')


def test_a_renamed_endpoint_takes_the_ports_of_the_older_one(edge_host: EdgeHost) -> None:
    claim = ephemeral() / "site/stacks/Pulumi.edge.yaml"
    text = claim.read_text()
    try:
        claim.write_text(re.sub(r"\bsecond\b", "renamed", text))
        play("playbooks/edge.yml", *RENAMED)
        _, renamed = EdgeHost(
            edge_host.name, {**edge_host.variables, "hearth_endpoints": ["first", "renamed"]}
        ).sidecars
        assert (renamed.name, renamed.port) == ("renamed", 8444)
        assert renamed.get("/sidecar/health").status == 200
        assert "second" not in edge_host.run("ls /etc/systemd/system /etc/hearth/sidecar /etc/hearth/llama-cpp")
        assert "changed=0" in play("playbooks/edge.yml", *RENAMED).stdout
    finally:
        claim.write_text(text)
    play("playbooks/edge.yml")
    assert edge_host.sidecars[1].get("/sidecar/health").status == 200
