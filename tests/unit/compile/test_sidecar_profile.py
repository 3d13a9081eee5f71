"""The validator of the sidecar's text refuses every text that could select an upstream (S4-71)."""

import pytest

from hearth.compile.sidecar import POD_LAYOUT
from hearth.compile.sidecar_profile import ProfileError, check_profile
from tests.support.compiling import compile_sidecar, host_layout
from tests.support.proxy_claims import claim, sidecar_endpoint

FOUND = claim({"llama": sidecar_endpoint()}, operations=("chat", "embedding"))
TEXT = compile_sidecar(FOUND, "llama", POD_LAYOUT).files["sidecar.cfg"]
SERVER = "    server runtime 127.0.0.1:8081 "
DEFAULT = "    default_backend runtime\n"
DENIAL = next(line for line in TEXT.splitlines() if line.endswith("unless { var(txn.operation) -m found }"))
CHAT = next(line for line in TEXT.splitlines() if "str(chat)" in line)


def test_the_compiled_texts_are_good() -> None:
    check_profile(TEXT)
    check_profile(compile_sidecar(FOUND, "llama", host_layout(FOUND, "llama")).files["sidecar.cfg"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(SERVER, "    server runtime 10.0.0.1:8081 ", "not a loopback address", id="another host"),
        pytest.param(SERVER, "    server runtime evil.example:80 ", "not a loopback address", id="a name"),
        pytest.param(SERVER, "    server runtime 0.0.0.0:0 ", "not a loopback address", id="any address"),
        pytest.param(SERVER, "    server runtime ipv6@[fd00::1]:1 ", "not a loopback address", id="another IPv6 host"),
        pytest.param(SERVER, "    server b 127.0.0.1:1\n" + SERVER, "one backend with one server", id="two servers"),
        pytest.param(SERVER, "    # ", "one backend with one server", id="no server"),
        pytest.param(SERVER, "    server-template x 5 a.b:1\n" + SERVER, "server-template", id="template"),
        pytest.param(SERVER, "    dispatch 10.0.0.1:1\n" + SERVER, "dispatch", id="dispatch"),
        pytest.param(SERVER, "    balance uri\n" + SERVER, "balance", id="balance"),
        pytest.param(DEFAULT, "    use_backend %[path]\n" + DEFAULT, "use_backend", id="use_backend"),
        pytest.param(DEFAULT, DEFAULT + DEFAULT, "does not deny", id="two default backends"),
        pytest.param(DEFAULT, "", "no frontend reaches the runtime", id="no default backend"),
        pytest.param(
            DEFAULT, "    http-request set-dst req.hdr(x)\n" + DEFAULT, "set-dst", id="destination of the caller"
        ),
        pytest.param(
            DEFAULT, "    http-request do-resolve(txn.a,d,ipv4) hdr(host)\n" + DEFAULT, "do-resolve", id="resolution"
        ),
        pytest.param(
            DEFAULT, "    http-request use-service prometheus-exporter\n" + DEFAULT, "use-service", id="service"
        ),
        pytest.param("set-uri %[path]", "set-uri http://a%[path]", "authority", id="target with an authority"),
        pytest.param("set-uri %[path]", "set-path /api/tags", "set-path", id="another path"),
        pytest.param(DENIAL + "\n", "", "does not deny", id="no denial"),
        pytest.param(DENIAL, DENIAL.replace("404", "200"), "does not answer 404", id="denial that is none"),
        pytest.param(DENIAL, DENIAL.replace("unless", "if"), "does not deny", id="denial of the declared"),
        pytest.param(CHAT, CHAT.replace("-m str", "-m beg"), "exact method and path", id="prefix"),
        pytest.param(CHAT, CHAT.replace("pathq", "path"), "exact method and path", id="path without its query"),
        pytest.param(CHAT, CHAT.replace("{ method POST } ", ""), "exact method and path", id="any method"),
        pytest.param(CHAT, CHAT.replace("-m str", "-m str -i"), "exact method and path", id="any case"),
        pytest.param(
            "frontend sidecar ", "listen other\n    bind :1\nfrontend sidecar ", "listen", id="another section"
        ),
        pytest.param(
            "frontend sidecar ",
            "resolvers d\n    nameserver a 1.1.1.1:53\nfrontend sidecar ",
            "resolvers",
            id="name servers",
        ),
        pytest.param(
            "frontend sidecar ",
            "backend b\n    server a 127.0.0.1:1\nfrontend sidecar ",
            "one backend",
            id="another backend",
        ),
        pytest.param("    strict-limits\n", "    stats socket /run/a\n", "stats", id="admin socket"),
    ],
)
def test_a_text_that_could_select_an_upstream_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(ProfileError, match=message):
        check_profile(TEXT.replace(old, new))


def test_a_rule_before_the_denial_is_refused() -> None:
    early = "    http-request return status 200 if { path_beg /v1 }\n"
    with pytest.raises(ProfileError, match="before everything else"):
        check_profile(TEXT.replace(CHAT, early + CHAT))


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(ProfileError):
        check_profile("")
