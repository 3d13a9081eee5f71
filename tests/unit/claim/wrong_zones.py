"""Wrong claims: zones, ranges and the database."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import VALID, drop, put

DATABASE = {
    "mode": "external",
    "host": "db.corp.example",
    "cidrs": ["10.42.3.16/28"],
    "ownerCredential": "credential://db/owner",
    "gatewayCredential": "credential://db/gateway",
    "trustBundle": "home-ca",
}

ZONES = (
    Case(
        "C-2 a zone called in-cluster",
        [put("networkZones/in-cluster", VALID["networkZones"]["models"])],
        ["hearth:networkZones.in-cluster: is built in and cannot be declared. Choose another name."],
    ),
    Case(
        "C-2 a bundle called in-cluster",
        [put("trustBundles/in-cluster", VALID["trustBundles"]["home-ca"])],
        ["hearth:trustBundles.in-cluster: is built in and cannot be declared. Choose another name."],
    ),
    Case(
        "U-15 a zone of everything",
        [put("networkZones/models/cidrs", ["0.0.0.0/0"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "U-15 a zone of everything in IPv6",
        [put("networkZones/models/cidrs", ["::/0"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "U-15 a public range",
        [put("networkZones/models/cidrs", ["8.8.8.0/24"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "S4-13 loopback in a zone",
        [put("networkZones/models/cidrs", ["127.0.0.0/8"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "S4-13 link-local in a zone",
        [put("networkZones/models/cidrs", ["169.254.0.0/16"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "S4-13 carrier-grade NAT in a zone",
        [put("networkZones/models/cidrs", ["100.64.0.0/10"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "more than a private range",
        [put("networkZones/models/cidrs", ["10.0.0.0/7"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not inside a private range. Use ranges of RFC 1918 "
                "or fc00::/7; nothing else may be in a zone."
            )
        ],
    ),
    Case(
        "a range with host bits",
        [put("networkZones/models/cidrs", ["10.42.7.1/24"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: has bits set beyond its prefix length. Write a range "
                "such as 192.168.1.0/24."
            )
        ],
    ),
    Case(
        "an address for a range",
        [put("networkZones/models/cidrs", ["10.42.7.1"])],
        ["hearth:networkZones.models.cidrs[0]: has no prefix length. Write a range such as 192.168.1.0/24."],
    ),
    Case(
        "no range at all",
        [put("networkZones/models/cidrs", ["planted/24"])],
        [("hearth:networkZones.models.cidrs[0]: is not an address range. Write a range such as 192.168.1.0/24.")],
    ),
    Case(
        "a long spelling",
        [put("networkZones/models/cidrs", ["fd00:0:0::/64"])],
        [
            (
                "hearth:networkZones.models.cidrs[0]: is not spelled in its shortest form. Write a range such "
                "as 192.168.1.0/24."
            )
        ],
    ),
    Case(
        "an empty zone",
        [put("networkZones/models/cidrs", [])],
        ["hearth:networkZones.models.cidrs: is an empty list. Name at least one."],
    ),
    Case(
        "a bare wildcard",
        [put("networkZones/models/dnsNames", ["*.models.corp.example", "*"])],
        [
            (
                "hearth:networkZones.models.dnsNames[1]: is a name that is not a DNS name. Write a DNS name, "
                "or *. and a DNS name."
            )
        ],
    ),
    Case(
        "a wildcard in the middle",
        [put("networkZones/models/dnsNames", ["*.models.corp.example", "a.*.example"])],
        [
            (
                "hearth:networkZones.models.dnsNames[1]: is a name that is not a DNS name. Write a DNS name, "
                "or *. and a DNS name."
            )
        ],
    ),
    Case(
        "a wildcard over a top-level domain",
        [put("networkZones/models/dnsNames", ["*.models.corp.example", "*.example"])],
        ["hearth:networkZones.models.dnsNames[1]: is a name without a domain. Write the full name."],
    ),
    Case(
        "an address for a name",
        [put("networkZones/models/dnsNames", ["*.models.corp.example", "10.42.7.1"])],
        ["hearth:networkZones.models.dnsNames[1]: is an address. Write addresses as ranges into cidrs."],
    ),
    Case(
        "Hearth's own names in a zone",
        [put("networkZones/models/dnsNames", ["*.models.corp.example", "*.system-llm.svc.cluster.local"])],
        [
            (
                "hearth:networkZones.models.dnsNames[1]: is a name of Hearth's own parts. Only the built-in "
                "zone in-cluster has these names."
            )
        ],
    ),
    Case(
        "port zero",
        [put("networkZones/models/ports", [0])],
        ["hearth:networkZones.models.ports[0]: must be at least 1. Write a larger number."],
    ),
    Case(
        "C-2 no ranges of the cluster",
        [drop("policy/clusterCidrs")],
        [
            (
                "hearth:policy.clusterCidrs: is missing, and the endpoint pod is in the zone in-cluster. "
                "State the Service and Pod ranges of the cluster."
            )
        ],
    ),
    Case(
        "C-2 a public range of the cluster",
        [put("policy/clusterCidrs/services", ["20.0.0.0/16"])],
        [
            (
                "hearth:policy.clusterCidrs.services[0]: is not inside a private range, and nothing that Hearth runs "
                "is reached at another address. Write the range that the cluster really has; where that is public "
                "(GKE's 34.118.224.0/20), make the cluster with a private one."
            )
        ],
    ),
    Case(
        "C-2 Pods inside the Services",
        [put("policy/clusterCidrs/pods", ["10.96.4.0/24"])],
        [
            (
                "hearth:policy.clusterCidrs.pods[0]: overlaps a range of the Services. Write the ranges that "
                "the cluster really has."
            )
        ],
    ),
    *[
        Case(
            f"C-1 a database in {cidr}",
            [put("llm/database", dict(DATABASE, cidrs=[cidr]))],
            [
                (
                    "hearth:llm.database.cidrs[0]: holds addresses that are never connected to, or private and public "
                    "ones together. Write the range of the database."
                )
            ],
        )
        for cidr in ("0.0.0.0/0", "127.0.0.1/32", "160.0.0.0/3", "8.0.0.0/5", "2000::/4", "169.254.169.254/32")
    ],
    *[
        Case(
            f"C-1 a database somewhere in {cidr}",
            [put("llm/database", dict(DATABASE, cidrs=[cidr]))],
            [f"hearth:llm.database.cidrs[0]: is wider than a {widest}. Write the range of the database."],
        )
        for cidr, widest in (("32.0.0.0/7", "/8"), ("2a00::/18", "/19"))
    ],
    *[
        Case(
            f"a database {name}",
            [put("llm/database", dict(DATABASE, database=name))],
            [
                (
                    "hearth:llm.database.database: is a database that PostgreSQL itself has. Name a database that "
                    "Hearth uses alone."
                )
            ],
        )
        for name in ("postgres", "template0", "template1")
    ],
    Case(
        "C-1 a database address outside its ranges",
        [put("llm/database", dict(DATABASE, host="10.9.9.9"))],
        ["hearth:llm.database.host: is an address outside cidrs. Add its range to cidrs."],
    ),
    Case(
        "a database with an unknown bundle",
        [put("llm/database", dict(DATABASE, trustBundle="planted"))],
        ["hearth:llm.database.trustBundle: names no trust bundle. Declared: home-ca."],
    ),
    Case(
        "a database with Hearth's own CA",
        [put("llm/database", dict(DATABASE, trustBundle="in-cluster"))],
        [
            (
                "hearth:llm.database.trustBundle: is the CA of Hearth's own Pods, which no external database "
                "has. Declare the CA of the database."
            )
        ],
    ),
    Case(
        "S3-7 one password for both roles",
        [put("llm/database", dict(DATABASE, gatewayCredential="credential://db/owner"))],
        [
            (
                "hearth:llm.database.gatewayCredential: is the reference of the owner's password. Give each "
                "role a password of its own."
            )
        ],
    ),
    Case(
        "an address of the node-local DNS that is none",
        [put("policy/cluster", {"nodeLocalDns": ["169.254.20.10/32", "fd00::a", "010.0.0.1"]})],
        [
            (
                "hearth:policy.cluster.nodeLocalDns[0]: is not an address in its usual form. Write an address such as "
                "169.254.20.10."
            ),
            (
                "hearth:policy.cluster.nodeLocalDns[2]: is not an address in its usual form. Write an address such as "
                "169.254.20.10."
            ),
        ],
    ),
    Case(
        "another domain of the cluster",
        [
            put("policy/cluster/domain", "vendor.example"),
            *(drop("endpoints/pod"), drop("deployments/gemma-pod"), drop("aliases/gemma")),
            put("tenants/team/models", ["embed"]),
        ],
        [
            (
                "hearth:endpoints.vendor.baseUrl: has a host that ends with the domain of the cluster, so it is not "
                "public. Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "a Pod in another domain of the cluster",
        [put("policy/cluster/domain", "k8s.corp.example")],
        [
            (
                "hearth:endpoints.pod.baseUrl: must be https://llm-pod.system-llm.svc.k8s.corp.example:8443/v1 when "
                "the runtime is a Pod. Write https://llm-pod.system-llm.svc.k8s.corp.example:8443/v1."
            )
        ],
    ),
    *(
        Case(
            f"C-2 {key} of a cluster without IPv4",
            [put(f"policy/clusterCidrs/{key}", ["fd00:10::/112"])],
            [
                f"hearth:policy.clusterCidrs.{key}: has no IPv4 range, and everything that Hearth runs listens on "
                "IPv4. Write the IPv4 range as well, or use a cluster that has one."
            ],
        )
        for key in ("services", "pods")
    ),
    Case(
        "a mirror of images that are built here",
        [put("policy/images", "localBuild"), put("policy/registry", {"mirror": "registry.corp.example"})],
        [
            "hearth:policy.registry.mirror: has no meaning with images localBuild, which come from no registry. Remove "
            "it, or use the images pinned."
        ],
    ),
    *(
        Case(
            f"a mirror that is {title}",
            [put("policy/registry", {"mirror": mirror})],
            [
                "hearth:policy.registry.mirror: is not well-formed. It must be a registry with an optional path, such "
                "as registry.example/proxy, without https://."
            ],
        )
        for title, mirror in (
            ("an address of the web", "https://registry.corp.example"),
            ("in capital letters", "Registry.corp.example"),
            ("a folder that ends with a slash", "registry.corp.example/proxy/"),
            ("an image with a tag", "registry.corp.example/proxy:1.0"),
        )
    ),
    Case(
        "a pull secret that no Secret can be called",
        [put("policy/registry", {"pullSecret": "Pull_Me"})],
        ["hearth:policy.registry.pullSecret: is not well-formed. It must be the name of a Secret."],
    ),
)
