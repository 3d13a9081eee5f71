"""The site's authority on the control host, which needs no other host."""

import os
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from tests.support.edge import ROOT, ephemeral

LEAF = """\
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: hearth.edge.local_ca, tasks_from: leaf}
    - ansible.builtin.copy: {content: "{{ local_ca_certificate }}", dest: "{{ leaf }}", mode: "0600"}
      when: local_ca_certificate | length > 0
  vars:
    local_ca_name: home-ca
    local_ca_directory: "{{ site }}/state/ca"
    local_ca_bundle: "{{ lookup('file', site ~ '/trust/home-ca.v1.pem') }}"
    local_ca_current: "{{ lookup('file', leaf) if leaf is exists else '' }}"
    local_ca_names: [DNS:one.lan.test]
"""


class Site:
    """A project's folder with an authority of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.leaf = folder, folder / "leaf.pem"
        (folder / "leaf.yml").write_text(LEAF)

    def play(self, playbook: Path, *arguments: str, phrase: str = "a passphrase of this test") -> str:
        """Run a playbook on the control host; return what it said, on one line."""
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ephemeral() / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "HEARTH_CA_PASSPHRASE": phrase,
            "MOLECULE_PROJECT_DIRECTORY": str(ROOT),
        }
        given = {"hearth_environment": "home", "local_ca_name": "home-ca", "hearth_project": self.folder}
        given |= {"hearth_state_directory": self.folder / "state", "site": self.folder, "leaf": self.leaf}
        variables = [part for name, value in given.items() for part in ("-e", f"{name}={value}")]
        command = ["ansible-playbook", "-i", "localhost,", *variables, *arguments, str(playbook)]
        found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return " ".join(found.stdout.replace("''", "'").split())

    def authority(self, *arguments: str) -> str:
        return self.play(ROOT / "playbooks/ca.yml", *arguments)

    def issue(self, *arguments: str, phrase: str = "a passphrase of this test") -> str:
        return self.play(self.folder / "leaf.yml", *arguments, phrase=phrase)

    def bundles(self) -> list[int]:
        """How many authorities each version of the bundle holds."""
        return [file.read_text().count("BEGIN") for file in sorted((self.folder / "trust").glob("home-ca.v*.pem"))]

    def end(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.leaf.read_bytes())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_check_mode_says_what_would_be_made_and_makes_nothing(site: Site) -> None:
    found = site.authority("--check")
    assert "failed=0" in found, found
    assert "would make the authority home-ca 1 in" in found
    assert "would write a trust bundle with it as" in found
    assert "home-ca.v1.pem" in found
    assert not (site.folder / "state").exists()
    assert not (site.folder / "trust").exists()


def test_a_rotation_that_is_under_way_stays_under_way(site: Site) -> None:
    """Somebody runs ca.yml again before the hosts have certificates of the new authority (S4-58)."""
    assert "failed=0" in site.authority()
    assert "failed=0" in site.authority("-e", "local_ca_next=true", "-e", "local_ca_overlap=both")
    assert site.bundles() == [1, 2]
    found = site.authority()
    assert site.bundles() == [1, 2], found
    assert "version: 2" in found
    assert "failed=0" in site.authority("-e", "local_ca_overlap=newest")
    assert site.bundles() == [1, 2, 1]
    assert "version: 3" in site.authority()
    assert site.bundles() == [1, 2, 1]


def test_no_certificate_outlives_its_authority(site: Site) -> None:
    site.authority("-e", "local_ca_days=40")
    authority = x509.load_pem_x509_certificate((site.folder / "trust/home-ca.v1.pem").read_bytes())
    found = site.issue()
    assert site.end().not_valid_after_utc == authority.not_valid_after_utc
    assert "WARNING localhost: the authority" in found
    assert "hearth_rotate=ca-begin" in found
    serial = site.end().serial_number
    assert "failed=0" in site.issue("-e", "local_ca_renew_days=60"), "the authority can give nothing better"
    assert site.end().serial_number == serial


def test_an_authority_that_ended_is_named_with_the_remedy(site: Site) -> None:
    site.authority("-e", "local_ca_days=0")
    found = site.issue()
    assert "failed=1" in found
    assert "localhost: the authority" in found
    assert "nobody trusts what it issued. Make the next one: playbooks/rotate.yml -e hearth_rotate=ca-begin" in found


def test_an_authority_that_lasts_is_no_warning_and_its_key_has_to_open(site: Site) -> None:
    site.authority()
    found = site.issue(phrase="another passphrase than that")
    assert "a certificate has to be issued (there is none), and HEARTH_CA_PASSPHRASE does not open the key" in found
    assert "censored" not in found
    found = site.issue()
    assert "failed=0" in found
    assert "WARNING localhost" not in found
    (site.folder / "state/ca/home-ca/0001/ca.key").rename(site.folder / "elsewhere")
    assert "cannot be read on the control host" in site.issue("-e", "local_ca_renew=true")
