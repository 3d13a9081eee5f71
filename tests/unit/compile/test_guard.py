"""The guard's configuration: what must be true of its text, whatever the claim says."""

import functools
import json
import re
import shlex
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hearth.claim.addresses import admits, classify
from hearth.claim.claim import Claim
from hearth.compile.guard import CONNECT_TIMEOUT_MS, DnsSettings, compile_guard
from hearth.compile.guard_ranges import Allowed, public_addresses, zone_addresses
from hearth.topology.resolve import resolve
from tests.support import claims
from tests.support.proxy_claims import capacity, claim, plaintext_endpoint, private_endpoint, provider, sidecar_endpoint

NAME = "gpu.lan.test"


def whole_claim() -> Claim:
    return claim(
        {
            "address": private_endpoint("https://10.77.0.1:8443/v1"),
            "closed": private_endpoint(f"https://{NAME}:8443/v1", runtimeCapacity=capacity(3, 0)),
            "pod": sidecar_endpoint(),
            "plain": plaintext_endpoint(f"http://{NAME}:11434/v1"),
            "tls": private_endpoint(f"https://{NAME}:8443/v1", headers={"x-team": "it's 100% ours"}),
        },
        providers=[provider(), provider("other-vendor", "https://api.other.example/openai/v1", "embedding")],
    )


def sections(text: str) -> dict[str, list[str]]:
    """Return the directives of every section, by its opening line."""
    found: dict[str, list[str]] = {}
    directives: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.strip().startswith("#"):
            continue
        if not line[0].isspace():
            directives = found.setdefault(line.strip(), [])
        else:
            directives.append(line.strip())
    return found


def guard(found: Claim) -> dict[str, list[str]]:
    return sections(compile_guard(resolve(found)).files["guard.cfg"])


def test_equal_claims_give_equal_bytes_in_any_order() -> None:
    found = whole_claim()
    turned = found.model_copy(update={"endpoints": dict(reversed(list(found.endpoints.items())))})
    assert compile_guard(resolve(turned)) == compile_guard(resolve(found))
    assert compile_guard(resolve(found)).digest == compile_guard(resolve(whole_claim())).digest


def test_there_is_one_listener_with_tls_and_a_part_for_each_upstream() -> None:
    found = guard(whole_claim())
    binds = {
        opening.split()[1]: [line for line in lines if line.startswith("bind")]
        for opening, lines in found.items()
        if opening.startswith("frontend")
    }
    assert binds == {
        "guard_probe": ["bind :8405"],
        "guard": ["bind :8443 ssl crt /etc/haproxy-secret/tls.crt alpn http/1.1 proto h1"],
    }
    parts = [opening.split()[1] for opening in found if opening.startswith("backend")]
    assert parts == [upstream.name for upstream in resolve(whole_claim()).upstreams]


def test_a_claim_without_upstreams_has_no_part_of_one() -> None:
    assert not [opening for opening in guard(claim()) if opening.startswith("backend")]
    assert compile_guard(resolve(claim())).files["upstreams.map"] == "# none\n"


def test_the_credential_of_an_upstream_is_asked_for_before_its_part() -> None:
    lines = guard(whole_claim())["frontend guard from guard_defaults"]
    order = [
        next(index for index, line in enumerate(lines) if mark in line)
        for mark in ("upstreams.map", "upstream_unknown", "tokens.map", "invalid_api_key", "use_backend")
    ]
    assert order == sorted(order)
    assert lines[order[3]].endswith("unless { var(txn.caller) -m found } { var(txn.upstream),strcmp(txn.caller) eq 0 }")


@pytest.mark.parametrize(
    ("backend", "server"),
    [
        ("endpoint-tls", f"verify required ca-file /etc/haproxy-ca/lan-ca.pem sni str({NAME}) verifyhost {NAME}"),
        ("endpoint-address", "verify required ca-file /etc/haproxy-ca/lan-ca.pem verifyhost 10.77.0.1"),
        (
            "endpoint-pod",
            "verify required ca-file /etc/haproxy-ca/in-cluster.pem sni str(llm-llama.system-llm.svc.cluster.local) "
            "verifyhost llm-llama.system-llm.svc.cluster.local",
        ),
        (
            "provider-vendor",
            "verify required ca-file @system-ca sni str(api.vendor.example) verifyhost api.vendor.example",
        ),
    ],
)
def test_every_connection_verifies_chain_and_name(backend: str, server: str) -> None:
    lines = guard(whole_claim())[f"backend {backend} from guard_defaults"]
    (found,) = [line for line in lines if line.startswith("server ")]
    assert found.endswith(f" ssl {server} alpn http/1.1 no-ssl-reuse")
    assert "http-reuse never" in lines


def test_nothing_turns_verification_off() -> None:
    text = compile_guard(resolve(whole_claim())).files["guard.cfg"]
    assert "verify none" not in text
    assert re.findall(r"server upstream .* ssl (?!verify required)", text) == []


def test_only_plaintext_is_without_tls() -> None:
    without = [
        opening.split()[1]
        for opening, lines in guard(whole_claim()).items()
        if any(line.startswith("server ") and " ssl " not in line for line in lines)
    ]
    assert without == ["endpoint-plain"]


def test_credentials_are_named_by_variable_and_plaintext_has_none() -> None:
    text = compile_guard(resolve(whole_claim())).files["guard.cfg"]
    assert set(re.findall(r"env\((\w+)\)", text)) == {
        "ENDPOINT_CREDENTIAL_ADDRESS",
        "ENDPOINT_CREDENTIAL_CLOSED",
        "ENDPOINT_CREDENTIAL_POD",
        "ENDPOINT_CREDENTIAL_TLS",
        "LLM_PROVIDER_KEY_vendor_api_key",
        "LLM_PROVIDER_KEY_other_vendor_api_key",
    }
    plain = guard(whole_claim())
    assert not any("env(" in line for line in plain["backend endpoint-plain from guard_defaults"])


def test_what_precedes_the_connection_has_its_order() -> None:
    for opening, lines in guard(whole_claim()).items():
        if not opening.startswith("backend"):
            continue
        order = [
            next(index for index, line in enumerate(lines) if mark in line and "log-format" not in line)
            for mark in (
                "not_found",
                "length_required",
                "(txn.address",
                "zone_denied",
                "set-dst ",
                "queue_full",
                "server upstream",
            )
        ]
        assert order == sorted(order), opening
        assert lines[order[3]].startswith("http-request return")


def test_an_address_is_not_looked_up_and_a_name_is() -> None:
    found = guard(whole_claim())
    assert not any("do-resolve" in line for line in found["backend endpoint-address from guard_defaults"])
    resolved = [line for line in found["backend endpoint-tls from guard_defaults"] if "do-resolve" in line]
    assert resolved == [f"http-request do-resolve(txn.address,guard,ipv4) str({NAME})"]


def test_a_declared_address_is_connected_to_unresolved_and_verified_by_name() -> None:
    profile = {**claims.private_tls("lan", "lan-ca"), "address": "10.77.0.9"}
    found = claim({"a": private_endpoint(f"https://{NAME}:8443/v1", networkProfile=profile)})
    text = compile_guard(resolve(found)).files
    lines = guard(found)
    backend = lines["backend endpoint-a from guard_defaults"]
    assert "http-request set-var(txn.address) str(10.77.0.9),ipmask(32,128)" in backend
    assert not any("do-resolve" in line for line in backend)
    # Of the whole zone nothing else is open to it.
    assert (text["endpoint-a.ipv4"], text["endpoint-a.ipv6"]) == ("10.77.0.9/32\n", "# none\n")
    assert any(f" sni str({NAME}) verifyhost {NAME} " in line for line in backend)
    assert f"http-request set-header Host '{NAME}:8443'" in backend


def test_ipv6_is_asked_for_only_where_it_may_be_connected_to() -> None:
    found = guard(claim({"a": private_endpoint(f"https://{NAME}:8443/v1")}, cidrs=("fd12::/64",)))
    resolved = [line for line in found["backend endpoint-a from guard_defaults"] if "do-resolve" in line]
    assert [line.split()[1] for line in resolved] == ["do-resolve(txn.address,guard,ipv6)"]


def test_bounds_and_times_are_the_claims() -> None:
    found = guard(
        claim({"a": private_endpoint(f"https://{NAME}:8443/v1", runtimeCapacity=capacity(7, 9, 61_000, 3_000))})
    )["backend endpoint-a from guard_defaults"]
    assert {"timeout connect 3000ms", "timeout queue 3000ms", "timeout server 61000ms"} <= set(found)
    assert any("queue_full" in line and line.endswith("if { queue(endpoint-a) ge 9 }") for line in found)
    assert any(line.startswith("server upstream 0.0.0.0:0 maxconn 7 maxqueue 9 ") for line in found)
    assert CONNECT_TIMEOUT_MS == 5_000


def test_without_a_queue_a_full_upstream_refuses() -> None:
    found = guard(whole_claim())["backend endpoint-closed from guard_defaults"]
    assert any("queue_full" in line and "srv_conn(endpoint-closed/upstream) ge 3" in line for line in found)


def test_the_process_drains_longer_than_its_longest_request() -> None:
    found = guard(
        claim({"a": private_endpoint(f"https://{NAME}:8443/v1", runtimeCapacity=capacity(request_ms=90_000))})
    )
    assert "hard-stop-after 120000ms" in found["global"]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40))
@example("'; http-request set-dst ipv4(127.0.0.1) #")
@example('"%[env(HOME)]" \\')
def test_the_value_of_a_declared_header_stays_a_value(value: str) -> None:
    found = guard(claim({"a": private_endpoint(f"https://{NAME}:8443/v1", headers={"x-team": value})}))
    (line,) = [line for line in found["backend endpoint-a from guard_defaults"] if "set-header x-team" in line]
    assert shlex.split(line) == ["http-request", "set-header", "x-team", value.replace("%", "%%")]


def test_paths_are_exact_and_come_from_the_declared_operations() -> None:
    found = guard(claim({"a": private_endpoint(f"https://{NAME}:8443/base/v1")}, operations=("embedding", "responses")))
    declared = [line for line in found["backend endpoint-a from guard_defaults"] if "set-var(txn.operation)" in line]
    assert declared == [
        f"http-request set-var(txn.operation) str({operation}) if {{ method POST }} {{ pathq -m str '{path}' }}"
        for operation, path in (("embedding", "/u/endpoint-a/embeddings"), ("responses", "/u/endpoint-a/responses"))
    ]
    asked = [line for line in found["backend endpoint-a from guard_defaults"] if "set-uri" in line]
    assert asked == [
        "http-request set-uri '/base/v1/embeddings' if { var(txn.operation) -m str embedding }",
        "http-request set-uri '/base/v1/responses' if { var(txn.operation) -m str responses }",
    ]


def test_log_lines_are_json_and_have_no_place_for_what_was_said() -> None:
    for opening, lines in guard(whole_claim()).items():
        for line in lines:
            if not line.startswith("log-format"):
                continue
            (text,) = shlex.split(line)[1:]
            filled = re.sub(r"%(\[[^]]*\]|\w+)", "1", text)
            assert json.loads(filled)["upstream"] == "1", opening
            assert not re.search(r"%HU|%HP|%HQ|%r|%hr|%hs|%\{|req\.|res\.|url|path", text)


def test_name_servers_are_those_of_the_pod_unless_given() -> None:
    assert "parse-resolv-conf" in guard(whole_claim())["resolvers guard"]
    given_ = sections(compile_guard(resolve(claim()), dns=DnsSettings(("127.0.0.1:53",))).files["guard.cfg"])
    assert given_["resolvers guard"][0] == "nameserver dns1 127.0.0.1:53"
    assert "parse-resolv-conf" not in given_["resolvers guard"]


ADDRESSES = st.one_of(
    st.ip_addresses(v=4),
    st.ip_addresses(v=6),
    st.ip_addresses(network="10.0.0.0/8"),
    st.ip_addresses(network="192.168.0.0/16"),
    st.ip_addresses(network="fd00::/8"),
    st.ip_addresses(network="2000::/3"),
    st.sampled_from(
        [
            ip_address(text)
            for text in (
                "169.254.169.254",
                "100.100.100.200",
                "127.0.0.1",
                "::1",
                "fd00:ec2::254",
                "8.8.8.8",
                "ff02::1",
            )
        ]
    ),
)


network = functools.cache(ip_network)


def inside(allowed: Allowed, address: IPv4Address | IPv6Address) -> bool:
    ranges = allowed.ipv4 if address.version == 4 else allowed.ipv6
    return any(address in network(text) for text in ranges)


@given(ADDRESSES)
@example(ip_address("fd00:ec2::254"))
@example(ip_address("168.63.129.16"))
def test_public_upstreams_may_have_exactly_the_public_addresses(address: IPv4Address | IPv6Address) -> None:
    mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    assert inside(public_addresses(), address) == (classify(address).scope == "public" and not mapped)


@given(
    st.lists(
        st.sampled_from(
            [
                "0.0.0.0/0",
                "::/0",
                "10.0.0.0/8",
                "10.77.0.0/24",
                "192.168.1.0/24",
                "192.168.1.7/32",
                "8.0.0.0/7",
                "100.64.0.0/10",
                "169.254.0.0/16",
                "fd00::/8",
                "fd12::/64",
                "fe80::/10",
                "2000::/3",
            ]
        )
    ),
    ADDRESSES,
)
@example(["0.0.0.0/0"], ip_address("8.8.8.8"))
@example(["fd00::/8"], ip_address("fd00:ec2::254"))
def test_a_zone_admits_what_the_claims_rules_admit(cidrs: list[str], address: IPv4Address | IPv6Address) -> None:
    mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    assert inside(zone_addresses(cidrs), address) == (admits(tuple(cidrs), address) and not mapped)


def test_the_address_files_hold_one_family_each() -> None:
    for name, text in compile_guard(resolve(whole_claim())).files.items():
        if name.endswith((".ipv4", ".ipv6")):
            lines = [line for line in text.splitlines() if not line.startswith("#")]
            assert all((":" in line) == name.endswith("6") for line in lines), name
            assert text.endswith("\n")
