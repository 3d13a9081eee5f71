"""edge_fleet.py [HOSTS]: playbooks/edge.yml over one container host, and over many, side by side in one run.

Prints a table for docs/benchmarks.md: seconds, and processor seconds of the control host, for the first installation,
for a run that changes nothing, for one in which the roles find out that nothing changes, and for a plain play beside
them; and the ratio of many hosts to one. Needs what `make edge-images` makes; run it by
`local/edge-scenarios.sh bench [HOSTS]`, which sets the environment.
"""

import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.container_hosts import ContainerHosts

FORKS = 20
PLAIN = """\
- hosts: all
  become: true
  gather_facts: false
  tasks:
    - ansible.builtin.ping:
    - ansible.builtin.command: {argv: [/bin/true]}
    - ansible.builtin.debug: {msg: done}
"""
"""As many connections as a run that changes nothing makes, and nothing else."""


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    seconds: float
    processor: float
    """Seconds of the control host's processors, with its connections."""


def measured(hosts: ContainerHosts, playbook: str, chosen: list[str], *arguments: str) -> Cost:
    """Run a playbook over some of the hosts."""
    inventory = str(hosts.inventory(chosen))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = hosts.play(playbook, "-i", inventory, "--forks", str(FORKS), "-e", "hearth_serial=100%", *arguments)[1]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Measure, print, and take the hosts away."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    names = [f"host{number:02}.edge.test" for number in range(count)]
    platforms = [
        {"name": name, "image": "debian13", "endpoints": [{"id": f"llama-{name.split('.')[0]}"}]} for name in names
    ]
    with tempfile.TemporaryDirectory() as folder:
        hosts = ContainerHosts("fleet", Path(folder), platforms, {})
        plain = Path(folder, "plain.yml")
        plain.write_text(PLAIN, encoding="utf-8")
        runs = {
            "the first installation": ("playbooks/edge.yml",),
            "no change": ("playbooks/edge.yml",),
            "no change, by the roles (`hearth_full`)": ("playbooks/edge.yml", "-e", "hearth_full=true"),
            "a plain play of three tasks": (str(plain),),
        }
        try:
            hosts.create()
            # the many are installed first without the one, which is then one of them
            measured(hosts, "playbooks/edge.yml", names[1:])
            rows = []
            for label, (playbook, *arguments) in runs.items():
                one = measured(hosts, playbook, names[:1], *arguments)
                many = measured(hosts, playbook, names, *arguments) if label != "the first installation" else None
                rows.append((label, one, many))
        finally:
            hosts.destroy()
    print(f"| run | one host, s | processor, s | {count} hosts, s | processor, s | {count} to one |")
    print("| --- | --- | --- | --- | --- | --- |")
    for label, one, many in rows:
        more = f"{many.seconds:.1f} | {many.processor:.1f} | {many.seconds / one.seconds:.1f}" if many else "| | "
        print(f"| {label} | {one.seconds:.1f} | {one.processor:.1f} | {more} |")


if __name__ == "__main__":
    main()
