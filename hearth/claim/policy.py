"""`hearth:policy`: what this environment permits, whatever the other keys ask for."""

import datetime
from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hearth.claim.base import Identifier, OneLine, Shape, matching


class Vendor(Shape):
    """Whether prompts may reach a vendor (S1-5 … S1-7)."""

    opt_in: bool = False
    """Without it every provider, and every endpoint whose posture is `vendor`, is refused."""
    allow: tuple[Identifier, ...] = ()
    """The vendors that prompts may reach: names of providers, and ids of endpoints; required with `optIn`."""
    acknowledgement: OneLine | None = None
    """Who accepted what, in words; required with `optIn`."""


class ClusterCidrs(Shape):
    """Address ranges of the cluster, which the built-in zone `in-cluster` consists of (C-2)."""

    services: Annotated[tuple[str, ...], Field(min_length=1)]
    """Service ranges."""
    pods: Annotated[tuple[str, ...], Field(min_length=1)]
    """Pod ranges."""


class Adopt(Shape):
    """What exists, was made by somebody else, and may be taken over."""

    namespaces: tuple[Identifier, ...] = ()
    """Namespaces of tenants, or `system-llm`, that are there already. Hearth puts its labels and policies on them, and
    takes those away again when they leave the claim; it never deletes such a namespace."""


LabelText = Annotated[
    str,
    matching(
        r"^[A-Za-z0-9]([A-Za-z0-9._/-]{0,126}[A-Za-z0-9])?$",
        "a Kubernetes label of letters, digits and . _ / - with a letter or digit at both ends",
    ),
]
"""Key or value of a Kubernetes label."""


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError("is not an IP address") from None


class Authority(Shape):
    """The CA that Hearth makes for its own Pods: guard and runtimes (S4-58, S4-59).

    It is changed in three deployments, each of which leaves every connection standing: `trusted: [2]`; then
    `signing: 2` and `trusted: [1]`; then `signing: 2` alone.
    """

    signing: Annotated[int, Field(ge=1, le=1_000)] = 1
    """Generation that signs certificates."""
    trusted: Annotated[tuple[Annotated[int, Field(ge=1, le=1_000)], ...], Field(max_length=3)] = ()
    """Generations that are trusted beside the signing one, for as long as a change takes."""

    @property
    def generations(self) -> tuple[int, ...]:
        """Return the generations that are trusted, in ascending order."""
        return tuple(sorted({*self.trusted, self.signing}))


GatewayService = Literal["llm-cache", "llm-database-address", "llm-guard-0", "llm-guard-1"]
"""A Service that the gateway calls."""
ServiceAddress = Annotated[str, AfterValidator(_address)]
"""The address of a Service."""


class Cluster(Shape):
    """Facts of the cluster that Hearth cannot ask for before it deploys."""

    domain: Annotated[
        str,
        matching(
            r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$",
            "a DNS name in lower case",
            max_length=100,
        ),
    ] = "cluster.local"
    """Domain of the cluster's own names, as its kubelets have it in `clusterDomain`."""
    node_local_dns: tuple[str, ...] = ("169.254.20.10",)
    """Addresses of NodeLocal DNSCache, which no label selects; an empty list where there is none."""
    dns_namespace: Identifier = "kube-system"
    """Namespace of the cluster's DNS server."""
    dns_labels: Annotated[dict[LabelText, LabelText], Field(min_length=1)] = Field(
        default_factory=lambda: {"k8s-app": "kube-dns"}
    )
    """Labels of the Pods of the cluster's DNS server."""

    authority: Authority = Authority()
    """The CA of Hearth's own Pods."""
    service_addresses: dict[GatewayService, ServiceAddress] = Field(default_factory=dict)
    """Fixed cluster addresses of Services that the gateway calls, by the Service's name. `pulumi up` learns them from
    the cluster. `hearth render` cannot, and opens the cluster's name server to the gateway's Pods unless all of them
    are given."""


class Registry(Shape):
    """Where images come from, for a cluster that has no way to the public registries or not without a credential."""

    mirror: (
        Annotated[
            str,
            matching(
                r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$",
                "a registry with an optional path, such as registry.example/proxy, without https://",
                max_length=150,
            ),
        ]
        | None
    ) = None
    """Registry that the published images are pulled from, by the same digests: `docker.io/library/haproxy` is
    `<mirror>/docker.io/library/haproxy` then. Images that the claim itself names are not touched."""
    pull_secret: Annotated[str, matching(r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", "the name of a Secret")] | None = None
    """Secret of the type `kubernetes.io/dockerconfigjson` in `system-llm` that every Pod there pulls its images with.
    Somebody else makes it, before the first deployment."""


class Bounds(Shape):
    """Upper bounds that no endpoint may exceed (S4-114)."""

    request_timeout_ms: Annotated[int, Field(ge=1_000, le=3_600_000)] = 600_000
    """Longest request timeout in ms."""
    parallel_requests: Annotated[int, Field(ge=1, le=256)] = 256
    """Most requests at once at one endpoint."""
    queued_requests: Annotated[int, Field(ge=0, le=1024)] = 1024
    """Most waiting requests at one endpoint."""


EvidenceMode = Literal["off", "warn", "enforce"]
"""What becomes of a private endpoint without valid evidence."""


def _day(text: str) -> str:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("is a day that does not exist") from None
    return text


class EvidenceWaiver(Shape):
    """An environment that does without evidence for a while, because somebody decided so (C-18)."""

    mode: Literal["off", "warn"]
    """`warn` says what is wrong with the evidence, `off` does not look at it; both publish every route."""
    reason: OneLine
    """Who decided it and why, in words."""
    until: Annotated[
        str,
        matching(r"^2[0-9]{3}-[0-9]{2}-[0-9]{2}$", 'a day in quotes, such as "2026-12-31"'),
        AfterValidator(_day),
    ]
    """Last day of it, in UTC, such as `"2026-12-31"`. After it `enforce` holds."""

    @property
    def last_day(self) -> datetime.date:
        """Return the last day of it."""
        return datetime.date.fromisoformat(self.until)


class Policy(Shape):
    """`hearth:policy`."""

    evidence: EvidenceMode = "enforce"
    """What a private endpoint without valid evidence gets: no look at all, a warning, or no route (C-18). `off` and
    `warn` are for the environment `local`; another one needs an `evidenceWaiver`."""
    evidence_waiver: EvidenceWaiver | None = None
    """For how long an environment does without evidence, and why: printed at every `pulumi up` and `hearth check`."""
    plaintext: Literal["forbid", "loopback", "overlay", "zone"] = "forbid"
    """Where `private_plaintext` is permitted (S4-12)."""
    vendor: Vendor = Vendor()
    """Whether prompts may reach a vendor."""
    egress: Literal["none", "enforce"] = "enforce"
    """Whether the gateway's egress is closed by NetworkPolicies (C-1)."""
    credentials: Literal["kubernetesSecret", "externalSecrets", "ansibleVault"] = "kubernetesSecret"
    """What credential references resolve to (C-16)."""
    images: Literal["pinned", "localBuild"] = "pinned"
    """Published images by digest, or the images that the local build makes without a registry."""
    cluster_cidrs: ClusterCidrs | None = None
    """Address ranges of the cluster; required by the zone `in-cluster`."""
    adopt: Adopt = Adopt()
    """What exists and may be taken over; everything else that exists and is not this environment's is refused."""
    cluster: Cluster = Cluster()
    """Facts of the cluster: its domain and its DNS."""
    registry: Registry = Registry()
    """Where images come from."""
    serve_image: (
        Annotated[
            str,
            matching(
                r"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?@sha256:[0-9a-f]{64}$",
                "an image by digest, such as registry.example/hearth/serve@sha256:<digest>",
                max_length=255,
            ),
        ]
        | None
    ) = None
    """Image of Hearth's own processes, which you build and push yourself (images/README.md); needed by what runs them
    in the cluster, with `images: pinned`. The local build has its own."""
    bounds: Bounds = Bounds()
    """Upper bounds that no endpoint may exceed."""
