"""New public hosts are looked up, deployed ones are not (S3-24, S3-25, S3-29)."""

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from hearth.claim.addresses import IPAddress
from tests.unit.claim.examples import claim, drop, load, problems, put

HOSTS = ["api.infomaniak.example", "api.mistral.example", "api.vendor.example"]
CHECK = "Check the host, and who answers for its DNS."


class Resolver:
    """Answers from a table and notes what it was asked."""

    def __init__(self, **answers: list[str]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[IPAddress]:
        self.asked.append(host)
        answer = self.answers.get(host.split(".")[1], ["93.184.215.14", "2606:2800:21f::1"])
        if answer == ["no such host"]:
            raise OSError("planted")
        return [ip_address(text) for text in answer]


def test_every_new_host_is_asked_once() -> None:
    resolver = Resolver()
    again = put("llm/providers/1/apiBase", "https://api.vendor.example/v2")
    assert problems(claim(again), resolver=resolver) == []
    assert sorted(resolver.asked) == ["api.infomaniak.example", "api.vendor.example"]


def test_one_address_that_is_not_public_is_enough() -> None:
    resolver = Resolver(infomaniak=["93.184.215.14", "10.0.0.1"], vendor=["::ffff:127.0.0.1"])
    assert problems(claim(), resolver=resolver) == [
        f"hearth:endpoints.vendor.baseUrl: has a host with an address that is not public: it is loopback. {CHECK}",
        f"hearth:llm.providers[0].apiBase: has a host with an address that is not public: it is private. {CHECK}",
    ]


@pytest.mark.parametrize("answer", [["no such host"], []])
def test_a_host_without_address(answer: list[str]) -> None:
    assert problems(claim(), resolver=Resolver(mistral=answer)) == [
        f"hearth:llm.providers[1].apiBase: has a host that does not resolve. {CHECK}"
    ]


def test_a_deployed_host_is_not_looked_up_again() -> None:
    deployed = load(claim()).claim
    resolver = Resolver(infomaniak=["10.0.0.1"], mistral=["10.0.0.1"], vendor=["10.0.0.1"], new=["10.0.0.1"])
    assert problems(claim(), resolver=resolver, deployed=deployed) == []
    assert resolver.asked == []
    moved = put("llm/providers/0/apiBase", "https://api.new.example/v1")
    assert problems(claim(moved), resolver=resolver, deployed=deployed) == [
        f"hearth:llm.providers[0].apiBase: has a host with an address that is not public: it is private. {CHECK}"
    ]
    assert resolver.asked == ["api.new.example"]


def test_a_private_host_is_never_looked_up() -> None:
    resolver = Resolver()
    load(claim(), resolver=resolver)
    assert sorted(resolver.asked) == HOSTS


def test_offline_says_that_nothing_was_looked_up() -> None:
    expected = (
        "hearth:llm.providers: 3 public hosts were not looked up, so nothing checked that only public addresses "
        "answer; hearth check --resolve and pulumi preview do (S3-24)."
    )
    assert expected in [str(notice) for notice in load(claim()).warnings]
    assert expected not in [str(notice) for notice in load(claim(), resolver=Resolver()).warnings]
    without = claim(drop("endpoints/vendor"), drop("deployments/gpt"), drop("aliases/vendor-gpt"))
    without["llm"]["providers"] = []
    without["tenants"] = {}
    assert "looked up" not in " ".join(str(notice) for notice in load(without).warnings)


def test_a_changed_address_takes_the_token_with_it() -> None:
    deployed = load(claim()).claim
    moved = claim(put("llm/providers/0/apiBase", "https://api.infomaniak.example/other/v1"))
    assert (
        "hearth:llm.providers[0].apiBase: is another address than the deployed one, and the token of info-maniak goes "
        "there from now on (S3-29)."
    ) in [str(notice) for notice in load(moved, deployed=deployed).warnings]
    assert "S3-29" not in " ".join(str(notice) for notice in load(claim(), deployed=deployed).warnings)
