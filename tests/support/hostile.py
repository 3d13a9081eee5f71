"""How a scenario sees that the playbook refuses a host and leaves it as it was."""

import contextlib
from collections.abc import Iterator

from tests.support.edge import ROOT, EdgeHost, play


def picture(host: EdgeHost) -> list[str]:
    """Return what the host is like."""
    script = (ROOT / "molecule/shared/files/picture.sh").read_text()
    host.run("sh -c %s picture /root/before", script)
    return host.run("cat /root/before").splitlines()


def refused(host: EdgeHost, *arguments: str) -> str:
    """Run the playbook, see it refuse, and return its one message."""
    found = play("playbooks/edge.yml", *arguments, check=False)
    assert found.returncode != 0, "the playbook accepted it"
    assert "changed=0" in found.stdout, found.stdout[-2000:]
    assert "unreachable=0    failed=1" in found.stdout
    _, message = found.stdout.split("fatal: ")
    text = " ".join(message.split("PLAY RECAP")[0].replace("''", "'").split())  # as the YAML output quotes
    assert f"{host.name}: " in text
    assert "Traceback" not in found.stdout
    return text


@contextlib.contextmanager
def undone(host: EdgeHost, fault: str, undo: str) -> Iterator[None]:
    """Let a fault be there for a while."""
    host.run(fault)
    try:
        yield
    finally:
        host.run(undo)
