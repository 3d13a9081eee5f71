"""Claims out of a random source: most parts fit together, every field is used, and some 40 % are right."""

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.support import claims
from tests.support.go_readers import AWKWARD
from tests.unit.claim.examples import COMMIT, DIGEST, PRICES, VALID

IDS = ("a", "b-1", "box", "gemma", "abcdefabcd", "null", "on", "y", "x" * 40, "no", "nan", "e3")
BAD_IDS = ("1st", "two--two", "gateway", "x" * 41, "10", "A")
MODELS = (
    "gemma",
    "gemma3",
    "gemma3:latest",
    "gemma3:270m",
    "Qwen/Qwen2.5@q4",
    "1e3",
    "yes",
    "%h",
    "--foo",
    "a b",
    "m" * 200,
)
PUBLIC = (
    "gemma",
    "a/b",
    "010",
    "1.0",
    "1e3",
    "null",
    "on",
    "y",
    "0o7",
    "12:30",
    "qwen2.5-7b",
    "2026-01-01",
    "local/x",
    "x" * 128,
)
LOOPBACKS = ("127.0.0.1", "localhost", "[::1]")
PERIODS = ("1d", "30d", "24h")
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**31, 10**12, 10**18, "", [], {}, ["a"], {"mode": "none"}, "x" * 600, "credential://a/b"),
    *(word for word in AWKWARD if len(word) < 20),
)


class Generator:
    """Makes claims; one seed makes one row of claims."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def often(self, chance: float) -> bool:
        return self.random.random() < chance

    def one(self, of: Sequence[Any]) -> Any:
        return self.random.choice(of)

    def some(self, of: Sequence[Any], most: int, least: int = 0) -> list[Any]:
        return self.random.sample(list(of), self.random.randint(min(least, len(of)), min(most, len(of))))

    def name(self, taken: Sequence[str] = ()) -> str:
        """A name that is mostly one, and mostly free."""
        while True:
            if self.often(0.01):
                return str(self.one(BAD_IDS))
            found: str = self.one(IDS) if self.often(0.3) else f"n{self.random.randint(0, 99)}"
            if found not in taken or self.often(0.01):
                return found

    def maybe(self, chance: float, **fields: Callable[[], Any]) -> dict[str, Any]:
        """Some of the fields, each by itself."""
        return {name: made() for name, made in fields.items() if self.often(chance)}

    def number(self, low: int, high: int) -> Callable[[], int]:
        return lambda: self.one((low, high, self.random.randint(low, high)))

    def claim(self) -> dict[str, Any]:
        """One claim by key without its prefix."""
        values: dict[str, Any] = {
            "llm": self._llm(),
            "networkZones": {"lan": self._zone(), **({self.name(): self._zone()} if self.often(0.1) else {})},
            "trustBundles": copy.deepcopy(VALID["trustBundles"]),
            "policy": self._policy(),
        }
        if values["llm"].get("gpuAcceleration") and self.often(0.95):
            values["policy"].pop("images", None)
        endpoints: dict[str, Any] = {}
        for place in range(self.random.choice((0, 1, 1, 2, 3))):
            name = self.name(tuple(endpoints))
            endpoints[name] = self._endpoint(name, place)
        deployments: dict[str, Any] = {}
        for name, endpoint in endpoints.items():
            for _ in range(self.random.choice((0, *[1] * 18, 2))):
                deployments[self.name(tuple(deployments))] = self._deployment(name, endpoint)
        aliases = (
            {
                self.one(PUBLIC) if self.often(0.5) else f"m{n}": self._alias(deployments)
                for n in range(self.random.randint(0, 3))
            }
            if deployments
            else {}
        )
        values |= {"endpoints": endpoints, "deployments": deployments, "aliases": aliases}
        vendors = [provider["name"] for provider in values["llm"].get("providers", [])]
        vendors += [
            name
            for name, endpoint in endpoints.items()
            if endpoint["networkProfile"].get("mode") is None or endpoint.get("posture") == "vendor"
        ]
        if vendors and self.often(0.95):
            values["policy"]["vendor"] = {
                "optIn": True,
                "allow": vendors,
                "acknowledgement": self.one(("yes", "prompts leave")),
            }
        names = [
            *aliases,
            *(f"{p['name']}/{m['name']}" for p in values["llm"].get("providers", []) for m in p["models"]),
        ]
        tenants: dict[str, Any] = {}
        for _ in range(self.random.randint(0, 2)):
            tenants[self.name(tuple(tenants))] = self._tenant(names)
        values["tenants"] = tenants
        values |= self._later() | self.maybe(0.1, environment=lambda: self.one(("null", "1e3", "home.1")))
        for server in values["llm"].get("instances", []):
            if "nodePool" in server and self.often(0.9):
                values["nodePools"] = {server["nodePool"]: self._pool()}
        if self.often(0.25):
            self._damage(values)
        return values

    def _llm(self) -> dict[str, Any]:
        made = self.maybe(
            0.15,
            gateway=lambda: self.maybe(0.6, replicas=self.number(1, 20), keyCacheSeconds=self.number(1, 60)),
            personBudget=lambda: {
                "maxSpend": self.one(("0.01", "1e3", "20.00", "010")) if self.often(0.2) else "5",
                "period": self.one(PERIODS),
                "requestsPerMinute": self.number(1, 10**12)(),
                "tokensPerMinute": self.number(1, 10**12)(),
            },
            database=lambda: self._database(),
            providers=lambda: [self._provider(name) for name in dict.fromkeys(self.name() for _ in range(2))],
            instances=lambda: [self._instance()],
            gpuAcceleration=lambda: self.often(0.3),
        )
        if self.often(0.1):
            made |= {"gpuAcceleration": True, "instances": [self._server()]}
        if self.often(0.02):
            made["console"] = {"enabled": self.often(0.9)}
        return {"enabled": self.often(0.95), **made}

    def _database(self) -> dict[str, Any]:
        if self.often(0.5):
            return {
                "mode": "inCluster",
                **self.maybe(0.6, storage=lambda: self.one(("1Gi", "500Mi")), storageClass=self.name),
            }
        return {
            "mode": "external",
            "host": self.one(("db.corp.example", "10.1.2.3", "null", "1e3")),
            "cidrs": ["10.1.2.0/24"],
            "ownerCredential": "credential://db/owner",
            "gatewayCredential": "credential://db/gateway",
            "trustBundle": "home-ca",
            **self.maybe(0.5, port=self.number(1, 65535), database=lambda: self.one(("null", "on", "llm", "postgres"))),
        }

    def _provider(self, name: str) -> dict[str, Any]:
        models = []
        for number in range(self.random.randint(0, 2)):
            price = {"pricing": "zero_marginal"} if self.often(0.3) else dict(PRICES)
            model = {
                "name": self.one(("1.0", "on", "large", f"m{number}")),
                "model": self.one((*MODELS, "vendor/m")),
                **price,
            }
            models.append(
                {
                    **model,
                    **self.maybe(
                        0.4,
                        maxTokens=self.number(1, 10_000_000),
                        mode=lambda: self.one(("chat", "completion", "embedding")),
                    ),
                }
            )
        return {
            "name": name,
            "displayName": self.one(("A vendor", "null", "é: #1")),
            "apiBase": self.one(("https://api.vendor.example/v1", "https://8.8.8.8/v1", "https://api.other.example")),
            "apiKeyProperty": name.replace("-", "_") + "_api_key",
            "models": models,
        }

    def _instance(self) -> dict[str, Any]:
        return {
            "name": self.name(),
            "modelId": self.one(("Qwen/Qwen2.5-7B", "a", "null")),
            "revision": COMMIT,
            "maxModelLen": self.number(1, 10**6)(),
            "modelCacheSize": "60Gi",
            **self.maybe(0.5, gpuMemoryUtilization=lambda: "0.85", nodePool=self.name, gpus=self.number(1, 16)),
        }

    def _pool(self) -> dict[str, Any]:
        if self.often(0.5):
            more = self.maybe(
                0.4,
                instanceTypes=lambda: ["p5.48xlarge"],
                capacityType=lambda: "spot",
                expireAfterHours=self.number(24, 8_760),
            )
            pool = claims.node_pool(**more)
            pool["accelerator"]["devicePlugin"] |= self.maybe(0.3, resource=lambda: "amd.com/gpu")
            return pool
        pool = claims.existing_pool()
        pool["accelerator"]["dynamicResources"] |= self.maybe(0.5, selectors=lambda: ["true"])
        return pool

    def _server(self) -> dict[str, Any]:
        """An instance that mostly fits."""
        embeds = self.often(0.2)
        return claims.instance(
            self.name(),
            **({"operations": ["embedding"], "embeddingSpace": "e/1"} if embeds else {}),
            **self.maybe(
                0.3,
                gpus=lambda: self.one((1, 2, 4)),
                maxNumSeqs=self.number(1, 32),
                maxQueuedRequests=self.number(0, 1024),
                requestTimeoutMs=self.number(100, 600_000),
                architecture=lambda: {
                    "layers": 28,
                    "keyValueHeads": 4,
                    "headSize": 128,
                    **self.maybe(0.5, cacheBytesPerToken=lambda: 57_344),
                },
                nodePool=self.name,
                quantization=lambda: "fp8",
                kvCacheDtype=lambda: "fp8",
                toolCallParser=lambda: "hermes",
                options=lambda: {"enforce-eager": self.often(0.5), "block-size": 16, "dtype": "bfloat16"},
                memory=lambda: "64Gi",
                storageClass=lambda: "fast",
                accessMode=lambda: "ReadWriteMany",
                source=lambda: {"image": {"ref": f"registry.example/m@{DIGEST}", "path": "/models"}},
                scheduling=lambda: {
                    "nodeSelector": {"a": "b"},
                    "tolerations": [{"key": "c", **self.maybe(0.5, value=lambda: "d", effect=lambda: "NoExecute")}],
                    "runtimeClass": "nvidia",
                    "priorityClass": "models",
                },
                pricing=lambda: claims.price("amortized_internal", 1, 1),
            ),
        )

    def _zone(self) -> dict[str, Any]:
        return {
            "dnsNames": ["*.lan.test", "box.lan.test"],
            "cidrs": ["192.168.1.0/24"],
            "ports": [8443, 8444, 11434],
            "allowPrivatePlaintext": self.often(0.97),
            **self.maybe(
                0.3,
                allowPrivateTls=lambda: self.often(0.9),
                encryptedOverlay=lambda: True,
            ),
        }

    def _policy(self) -> dict[str, Any]:
        return {
            **self.maybe(0.05, evidence=lambda: self.one(("off", "warn"))),
            **self.maybe(
                0.2,
                evidenceWaiver=lambda: {
                    "mode": self.one(("off", "warn")),
                    "reason": self.one(("a move", "e: 1", "null")),
                    "until": "2027-02-28",
                },
            ),
            "clusterCidrs": self.one(
                (
                    {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]},
                    {"services": ["fd00:10::/112", "10.97.0.0/16"], "pods": ["fd00:20::/56", "100.64.0.0/16"]},
                )
            ),
            "plaintext": self.one(("forbid", "zone", "zone", "overlay", "loopback") if self.often(0.1) else ("zone",)),
            **self.maybe(
                0.1,
                egress=lambda: "none",
                adopt=lambda: {"namespaces": ["null", "team-a"]} if self.often(0.2) else {},
                serveImage=lambda: f"registry.example/hearth/serve@{DIGEST}",
                registry=lambda: self.maybe(0.5, mirror=lambda: "m.example:5000/p", pullSecret=lambda: "pull"),
                cluster=lambda: self.maybe(
                    0.5,
                    nodeLocalDns=lambda: self.one(([], ["fd00::a", "10.0.0.10"])),
                    dnsNamespace=lambda: "null",
                    dnsLabels=lambda: {"null": "1e3"},
                    domain=lambda: "cluster.example" if self.often(0.3) else "cluster.local",
                ),
                images=lambda: "localBuild",
                bounds=lambda: self.maybe(
                    0.5,
                    requestTimeoutMs=self.number(1_000, 3_600_000),
                    parallelRequests=self.number(1, 256),
                    queuedRequests=self.number(0, 1024),
                ),
            ),
            **self.maybe(0.013, credentials=lambda: self.one(("externalSecrets", "ansibleVault"))),
        }

    def _capacity(self, name: str) -> dict[str, Any]:
        return claims.capacity(
            name,
            self.number(1, 8)(),
            self.number(0, 16)(),
            **self.maybe(
                0.2,
                coldStartTimeoutMs=self.number(100, 3_600_000),
                streamSetupTimeoutMs=self.number(100, 60_000),
                requestTimeoutMs=self.number(60_000, 600_000),
                readinessPolicy=lambda: "on_demand",
            ),
        )

    def _endpoint(self, name: str, place: int) -> dict[str, Any]:
        kind = self.one(("pod", "host", "host", "native", "plain", "vendor"))
        protocol = self.one(("openai_chat", "openai_chat", "openai_chat", "openai_embeddings", "openai_responses"))
        made: dict[str, Any]
        if kind == "pod":
            made = claims.pod_endpoint(
                name, {}, runtimeCapacity=self._capacity(name), runtime=self._runtime("pod", place)
            )
        elif kind == "host":
            url = f"https://{self.one(('box', f'h{place}'))}.lan.test:{8443 + (place if self.often(0.8) else 0) % 2}/v1"
            made = claims.endpoint(
                name,
                url,
                claims.private_tls("lan", "home-ca", self.one(("tls_sidecar", "light_gateway_sidecar"))),
                sidecar={},
                runtimeCapacity=self._capacity(name),
                runtime=self._runtime("host", place),
            )
        elif kind == "native":
            url = self.one(
                (
                    f"https://e{place}.lan.test:8443/v1",
                    "https://192.168.1.9:8444",
                    f"https://e{place}.lan.test:8444/openai/v1",
                )
            )
            made = claims.endpoint(
                name,
                url,
                claims.private_tls("lan", "home-ca"),
                runtimeCapacity=self._capacity(name),
                **self.maybe(0.1, posture=lambda: "vendor"),
            )
        elif kind == "plain":
            made = claims.endpoint(
                name,
                f"http://p{place}.lan.test:11434/v1",
                claims.private_plaintext("lan"),
                endpointAuth={"mode": "none"},
                runtimeCapacity=self._capacity(name),
            )
            if self.often(0.3):
                made["runtime"] = self._runtime("host", place)
        else:
            made = claims.endpoint(
                name,
                "https://api.vendor.example/v1",
                {},
                runtimeCapacity=None,
                **self.maybe(0.1, posture=lambda: "local"),
            )
        made["protocol"] = protocol
        if kind in ("host", "native", "plain") or self.often(0.02):
            made["networkProfile"] |= self.maybe(0.1, address=lambda: f"192.168.1.{20 + place}")
        if self.often(0.15):
            everything = ["chat", "completion", "responses", "embedding"]
            made["operations"] = ["embedding"] if protocol == "openai_embeddings" else everything
            if self.often(0.95):
                del made["protocol"]
        if protocol == "openai_embeddings" and made.get("runtime", {}).get("engine") == "llamaCpp":
            made["runtime"].pop("chatTemplate", None)
            made["runtime"] |= self.maybe(0.3, pooling=lambda: self.one(("mean", "cls", "last")))
        if kind not in ("pod", "plain") and self.often(0.1):
            made["endpointAuth"] = {
                "mode": "api_key",
                "credentialRef": "credential://x/y",
                **self.maybe(0.5, header=lambda: "authorization"),
            }
        if made.get("sidecar") is not None and self.often(0.3):
            made["sidecar"] = {
                "profileVersion": "model-provider-sidecar/v1",
                **self.maybe(
                    0.6,
                    maxRequestBytes=self.number(1_024, 67_108_864),
                    maxResponseBytes=self.number(1_024, 268_435_456),
                ),
            }
        if kind == "host" and self.often(0.1):
            # Somebody else runs both.
            del made["runtime"]
            made["sidecar"] |= {"configSha256": "a" * 64, "runtimePort": self.number(1, 65_535)()}
        if self.often(0.1):
            made["headers"] = {self.one(("X-Title", "user-agent")): self.one(("Hearth", "1e3", "null", "a: b"))}
        if kind in ("native", "plain", "host") and self.often(0.1):
            made["networkProfile"]["connection"] = {
                "poolIdleTimeoutMs": self.number(1_000, 300_000)(),
                "clientRefreshIntervalMs": 3_600_000,
            }
        return made

    def _source(self, engine: str, placement: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = [
            {"huggingFace": {"repo": "o/m", "revision": COMMIT, "file": self.one(("m.gguf", "q4/m.GGUF"))}},
            {"url": "https://models.example/m.gguf"},
        ]
        found.append(
            {"file": "/srv/m.gguf"}
            if placement == "host"
            else {"image": {"ref": f"registry.example/m@{DIGEST}", "path": "/m.gguf"}}
        )
        if engine == "ollama":
            found += [{"ollama": self.one(("gemma3", "gemma3:270m", "hf.co/o/m:q4"))}] * 3
        return {"source": self.one(found), "digest": DIGEST}

    def _runtime(self, placement: str, place: int) -> dict[str, Any]:
        engine = self.one(("llamaCpp", "llamaCpp", "ollama"))
        made = {
            "engine": engine,
            "placement": placement,
            "loopback": f"http://{self.one(LOOPBACKS)}:{8081 + (place if self.often(0.9) else 0)}",
            "models": [
                self._source(engine, placement) for _ in range(2 if engine == "ollama" and self.often(0.2) else 1)
            ],
            **self.maybe(
                0.3, memory=lambda: self.one(("1Gi", "500Mi", "1Ti")), contextTokens=self.number(256, 131_072)
            ),
        }
        if engine == "llamaCpp":
            made |= self.maybe(0.2, chatTemplate=lambda: self.one(("gemma", "chatml")), threads=self.number(1, 512))
        else:
            made |= self.maybe(0.3, keepAliveSeconds=self.number(0, 604_800))
        if placement == "host":
            made |= self.maybe(0.2, credentialRef=lambda: "credential://own/key")
        return made

    def _deployment(self, name: str, endpoint: dict[str, Any]) -> dict[str, Any]:
        of_protocol = {"openai_chat": ["chat", "completion"], "openai_embeddings": ["embedding"]}
        permitted = endpoint.get("operations") or of_protocol.get(endpoint["protocol"], ["responses"])
        asked = [operation for operation in permitted if operation != "embedding"] or ["embedding"]
        if "embedding" in permitted and self.often(0.2):
            asked = ["embedding"]
        library = [model["source"].get("ollama") for model in endpoint.get("runtime", {}).get("models", ())]
        models = [model for model in library if model] or (["gemma"] if self.often(0.8) else MODELS)
        vendor = endpoint.get("posture") == "vendor" or (
            "mode" not in endpoint["networkProfile"] and endpoint.get("posture") is None
        )
        free = self.often(0.4)
        basis = "zero_marginal" if free else "provider" if vendor else "amortized_internal"
        context = min(endpoint.get("runtime", {}).get("contextTokens", 4096), self.one((1, 512, 4096, 131_072)))
        made = claims.deployment(
            name,
            *asked[: self.random.randint(1, 3)],
            model=self.one(models),
            contextTokens=context,
            pricing=claims.price(
                basis,
                *((0, 0) if free else (self.number(1, 10**6)(), self.number(0, 10**6)())),
                version=self.one(("2026-1", "1e3", "null", "é")),
            ),
            residency=self.one((["home"], ["null", "home"])),
            **self.maybe(
                0.1,
                lane=lambda: self.one(("query", "indexing")),
                concurrency=self.number(1, 4),
                defaultMaxTokens=self.number(1, 64),
                extraFields=lambda: ["mirostat"],
            ),
        )
        if asked == ["embedding"]:
            made["embeddingSpace"] = self.one(("null", "nomic/1", "1e3"))
        return made

    def _alias(self, deployments: dict[str, Any]) -> dict[str, Any]:
        members = self.some(list(deployments), 2 if self.often(0.2) else 1, least=1)
        return claims.alias(
            *members,
            residency="home",
            **self.maybe(
                0.1,
                lanes=lambda: [self.one(("query", "standard"))],
                maxCostMicros=self.number(0, 10**12),
                paidFallback=lambda: True,
            ),
        ) | {"residency": ["home", "null"]}

    def _tenant(self, names: Sequence[str]) -> dict[str, Any]:
        return self.maybe(
            0.4,
            namespace=lambda: self.one(("null", "team-a", "on")) if self.often(0.97) else "default",
            apps=lambda: {
                self.name(): {
                    "llm": self.often(0.7),
                    **self.maybe(0.3, keyGeneration=self.number(1, 9), keyGraceSeconds=self.number(0, 3_600)),
                }
                for _ in range(2)
            },
            **({"models": lambda: self.some(names, 3, least=1)} if names else {}),
            limits=lambda: {
                **({"maxSpend": self.one(("1", "0.5")), "period": self.one(PERIODS)} if self.often(0.7) else {}),
                **self.maybe(
                    0.4,
                    requestsPerMinute=self.number(1, 10**12),
                    tokensPerMinute=self.number(1, 10**12),
                    parallelRequests=self.number(1, 1_000_000),
                ),
            },
        ) | ({"openWebui": self.often(0.5)} if self.often(0.03) else {})

    def _later(self) -> dict[str, Any]:
        """Shapes that are refused as long as nothing runs them."""
        instance = {
            "namespace": "x",
            "model": {"source": {"url": "https://x.example/m.gguf"}, "sha256": "0" * 64},
            **self.maybe(0.5, replicas=self.number(1, 9), host=lambda: "a.example", tokens=lambda: ["ci"]),
        }
        pool = {
            "backend": "gke",
            "accelerator": {"devicePlugin": {"resource": "nvidia.com/gpu", "count": 1, "product": "H200"}},
            "limits": {"gpus": 8},
            **self.maybe(0.5, nodeClassRef=lambda: {"group": "g", "kind": "K", "name": "n"}),
        }
        mesh = {
            "enabled": self.often(0.5),
            **self.maybe(0.5, node=lambda: "a", members=lambda: ["b"], shares=lambda: ["gemma"]),
        }
        return self.maybe(
            0.04, privateInstances=lambda: {"p": instance}, nodePools=lambda: {"p": pool}, mesh=lambda: mesh
        )

    def _damage(self, values: dict[str, Any]) -> None:
        """Put something odd in one place."""
        owner: Any = values
        while True:
            key = self.one(list(owner) if isinstance(owner, dict) else range(len(owner)))
            if not isinstance(owner[key], dict | list) or not owner[key] or self.often(0.05):
                owner[key] = self.one(ODD)
                return
            owner = owner[key]
