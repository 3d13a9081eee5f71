"""edge_fleet.py [HOSTS]: playbooks/edge.yml over one container host, and over many, side by side in one run.

Prints a table for docs/benchmarks.md: seconds for the first installation and for a run that changes nothing, per host,
and as ratios to the run over one host. Needs what `make edge-images` makes; run it by
`local/edge-scenarios.sh bench [HOSTS]`, which sets the environment.
"""

import sys
import tempfile
from pathlib import Path

from tests.support.container_hosts import ContainerHosts

FORKS = 20


def main() -> None:
    """Measure, print, and take the hosts away."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    names = [f"host{number:02}.edge.test" for number in range(count)]
    platforms = [
        {"name": name, "image": "debian13", "endpoints": [{"id": f"llama-{name.split('.')[0]}"}]} for name in names
    ]
    with tempfile.TemporaryDirectory() as folder:
        hosts = ContainerHosts("fleet", Path(folder), platforms, {})

        def edge(chosen: list[str]) -> float:
            arguments = ["-i", str(hosts.inventory(chosen)), "--forks", str(FORKS), "-e", "hearth_serial=100%"]
            return hosts.play("playbooks/edge.yml", *arguments)[1]

        try:
            hosts.create()
            rows = [
                (label, len(chosen), edge(chosen), edge(chosen))
                for label, chosen in (("one host", names[:1]), ("the others, side by side", names[1:]))
            ]
        finally:
            hosts.destroy()
    one_install, one_again = rows[0][2], rows[0][3]
    print("| run | hosts | install, s | per host, ratio to one | no change, s | per host, ratio to one |")
    print("| --- | --- | --- | --- | --- | --- |")
    for label, number, install, again in rows:
        print(
            f"| {label} | {number} | {install:.0f} | {install / number / one_install:.2f} "
            f"| {again:.0f} | {again / number / one_again:.2f} |"
        )


if __name__ == "__main__":
    main()
