"""The table of addresses and names (U-6, U-15)."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.claim.addresses import (
    admits,
    classify,
    contains,
    internal_name,
    name_matches,
    parse_host,
    parse_network,
    private_range,
)

ADDRESSES = [
    ("8.8.8.8", "public", "public"),
    ("1.1.1.1", "public", "public"),
    ("172.32.0.1", "public", "public"),
    ("100.128.0.1", "public", "public"),
    ("2606:4700::1111", "public", "public"),
    ("10.0.0.1", "private", "private"),
    ("172.16.0.1", "private", "private"),
    ("172.31.255.255", "private", "private"),
    ("192.168.255.255", "private", "private"),
    ("fd12:3456::1", "private", "private"),
    ("fc00::1", "private", "private"),
    ("0.0.0.0", "forbidden", "unspecified"),
    ("0.1.2.3", "forbidden", "unspecified"),
    ("100.64.0.1", "forbidden", "carrier-grade NAT"),
    ("100.100.100.200", "forbidden", "the metadata service"),
    ("127.0.0.1", "forbidden", "loopback"),
    ("127.255.255.254", "forbidden", "loopback"),
    ("168.63.129.16", "forbidden", "the metadata service"),
    ("169.254.1.1", "forbidden", "link-local"),
    ("169.254.169.254", "forbidden", "the metadata service"),
    ("192.0.0.192", "forbidden", "the metadata service"),
    ("192.0.0.1", "forbidden", "reserved for protocols"),
    ("192.0.2.1", "forbidden", "reserved for documentation"),
    ("192.31.196.1", "forbidden", "reserved for protocols"),
    ("192.52.193.1", "forbidden", "reserved for protocols"),
    ("192.88.99.1", "forbidden", "a 6to4 relay"),
    ("192.175.48.1", "forbidden", "reserved for protocols"),
    ("198.18.0.1", "forbidden", "reserved for benchmarks"),
    ("198.19.255.255", "forbidden", "reserved for benchmarks"),
    ("198.51.100.1", "forbidden", "reserved for documentation"),
    ("203.0.113.1", "forbidden", "reserved for documentation"),
    ("224.0.0.1", "forbidden", "multicast"),
    ("239.255.255.255", "forbidden", "multicast"),
    ("240.0.0.1", "forbidden", "reserved"),
    ("255.255.255.255", "forbidden", "broadcast"),
    ("::", "forbidden", "unspecified"),
    ("::1", "forbidden", "loopback"),
    ("::7f00:1", "forbidden", "outside the unicast range"),
    ("64:ff9b::808:808", "forbidden", "NAT64"),
    ("64:ff9b:1::1", "forbidden", "NAT64"),
    ("100::1", "forbidden", "outside the unicast range"),
    ("2001::1", "forbidden", "Teredo"),
    ("2001:20::1", "forbidden", "reserved for protocols"),
    ("2001:db8::1", "forbidden", "reserved for documentation"),
    ("2002:0a00:0001::1", "forbidden", "6to4"),
    ("3fff::1", "forbidden", "reserved for documentation"),
    ("5f00::1", "forbidden", "outside the unicast range"),
    ("fd00:ec2::254", "forbidden", "the metadata service"),
    ("fd20:ce::254", "forbidden", "the metadata service"),
    ("fe80::1", "forbidden", "link-local"),
    ("fec0::1", "forbidden", "outside the unicast range"),
    ("ff02::1", "forbidden", "multicast"),
    ("::ffff:10.0.0.1", "private", "private"),
    ("::ffff:127.0.0.1", "forbidden", "loopback"),
    ("::ffff:169.254.169.254", "forbidden", "the metadata service"),
    ("::ffff:8.8.8.8", "public", "public"),
]


@pytest.mark.parametrize(("text", "scope", "reason"), ADDRESSES, ids=[row[0] for row in ADDRESSES])
def test_classify(text: str, scope: str, reason: str) -> None:
    verdict = classify(ip_address(text))
    assert (verdict.scope, verdict.reason) == (scope, reason)


@pytest.mark.parametrize(
    "text",
    ["8.8.8.8", "100.100.100.200", "169.254.169.254", "127.0.0.1", "::1", "ff02::1", "0.0.0.0", "::ffff:8.8.8.8"],
)
def test_a_zone_of_everything_admits_private_addresses_alone(text: str) -> None:
    assert not admits(("0.0.0.0/0", "::/0"), ip_address(text))


@pytest.mark.parametrize("text", ["10.0.0.1", "192.168.1.1", "fd00::1", "::ffff:10.0.0.1"])
def test_a_zone_of_everything_admits_private_addresses(text: str) -> None:
    assert admits(("0.0.0.0/0", "::/0"), ip_address(text))


def test_a_zone_admits_nothing_outside_its_ranges() -> None:
    assert admits(("192.168.1.0/24",), ip_address("192.168.1.255"))
    assert not admits(("192.168.1.0/24",), ip_address("192.168.2.0"))
    assert not contains(("not a range",), ip_address("192.168.2.0"))


@given(st.ip_addresses())
def test_no_address_is_unknown_and_none_public_is_private_to_python(address: object) -> None:
    found = ip_address(str(address))
    verdict = classify(found)
    if verdict.scope == "public":
        assert not any((found.is_private, found.is_loopback, found.is_link_local, found.is_multicast))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.0/8", ip_network("10.0.0.0/8")),
        ("fd00::/64", ip_network("fd00::/64")),
        ("10.0.0.1", "has no prefix length"),
        ("10.0.0.1/8", "has bits set beyond its prefix length"),
        ("10.0.0.0/33", "is not an address range"),
        ("10.0.0.0/255.0.0.0", "is not spelled in its shortest form"),
        ("FD00::/64", "is not spelled in its shortest form"),
        ("fe80::%eth0/64", "is not an address range"),
        ("", "has no prefix length"),
    ],
)
def test_parse_network(text: str, expected: object) -> None:
    assert parse_network(text) == expected


@pytest.mark.parametrize(
    ("text", "private"),
    [("10.1.0.0/16", True), ("10.0.0.0/7", False), ("172.0.0.0/8", False), ("fc00::/7", True), ("fc00::/6", False)],
)
def test_private_range(text: str, private: bool) -> None:
    assert private_range(ip_network(text)) is private


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("192.168.1.1", ip_address("192.168.1.1")),
        ("[fd00::1]", ip_address("fd00::1")),
        ("api.vendor.example", "api.vendor.example"),
        ("xn--vndor-csa.example", "xn--vndor-csa.example"),
        ("1.vendor.example", "1.vendor.example"),
    ],
)
def test_parse_host(host: str, expected: object) -> None:
    assert parse_host(host) == expected


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "a..b",
        "-a.example",
        "a_b.example",
        "a" * 64 + ".example",
        ".".join(["a" * 60] * 5),
        "API.example",
        "api.example.",
        "api。example",
        "１２７.0.0.1",
        "vëndor.example",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "1.2.3.4.5",
        "256.1.1.1",
        "api.example%00",
        "a b.example",
        "*.example",
        "[::1",
        "[127.0.0.1]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[0:0:0:0:0:0:0:1]",
        "[FD00::1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:a00:1]",
        "[v1.x]",
    ],
)
def test_one_host_has_one_spelling(host: str) -> None:
    with pytest.raises(ValueError, match=r"^(is|has|ends) "):
        parse_host(host)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("api.vendor.example", None),
        ("local.vendor.example", None),
        ("notlocalhost.example", None),
        ("gateway", "is a single label"),
        ("localhost", "is a single label"),
        ("a.localhost", "ends with .localhost"),
        ("db.team.svc", "ends with .svc"),
        ("db.team.svc.cluster.local", "ends with .cluster.local"),
        ("metadata.google.internal", "ends with .internal"),
        ("nas.local", "ends with .local"),
        ("nas.home.arpa", "ends with .arpa"),
        ("nas.lan", "ends with .lan"),
        ("wiki.corp", "ends with .corp"),
        ("abc.onion", "ends with .onion"),
    ],
)
def test_internal_name(name: str, reason: str | None) -> None:
    assert internal_name(name) == reason


@pytest.mark.parametrize(
    ("name", "pattern", "matches"),
    [
        ("a.example", "a.example", True),
        ("b.example", "a.example", False),
        ("a.models.example", "*.models.example", True),
        ("a.b.models.example", "*.models.example", False),
        ("models.example", "*.models.example", False),
        (".models.example", "*.models.example", False),
        ("amodels.example", "*.models.example", False),
    ],
)
def test_name_matches(name: str, pattern: str, matches: bool) -> None:
    assert name_matches(name, pattern) is matches
