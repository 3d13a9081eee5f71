"""Wrong claims: tenants, budgets and trust."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import drop, put

TENANTS = (
    Case(
        "an unknown model",
        [put("tenants/team/models", ["gemma", "planted"])],
        [
            (
                "hearth:tenants.team.models[1]: names no model that is offered. Offered: embed, gemma, house, "
                "info-maniak/gemma-4-31b, mistral/large, mistral/small, plain, vendor-gpt."
            )
        ],
    ),
    Case(
        "S3-19 an instance's model is not offered",
        [put("tenants/team/models", ["qwen-qwen2.5-7b"])],
        [
            (
                "hearth:tenants.team.models[0]: names no model that is offered. Offered: embed, gemma, house, "
                "info-maniak/gemma-4-31b, mistral/large, mistral/small, plain, vendor-gpt."
            )
        ],
    ),
    Case(
        "an empty list of models",
        [put("tenants/team/models", [])],
        [
            (
                "hearth:tenants.team.models: is an empty list. Name at least one model, or leave it out for "
                "all that are offered."
            )
        ],
    ),
    Case(
        "S3-50 a spend without period",
        [drop("tenants/team/limits/period")],
        ["hearth:tenants.team.limits.period: is missing, and maxSpend needs it. Add a period such as 30d."],
    ),
    Case(
        "S3-50 a period without spend",
        [drop("tenants/team/limits/maxSpend")],
        ["hearth:tenants.team.limits.maxSpend: is missing, and period needs it. Add it, or remove period."],
    ),
    Case(
        "a spend of zero",
        [put("tenants/team/limits/maxSpend", "0.00")],
        [("hearth:tenants.team.limits.maxSpend: is zero. Write an amount above zero, or remove the apps' llm: true.")],
    ),
    Case(
        "S3-54 a person's spend of zero",
        [put("llm/personBudget/maxSpend", "0")],
        ["hearth:llm.personBudget.maxSpend: is zero. Write an amount above zero."],
    ),
    Case(
        "S4-102 a trust store in the claim",
        [put("policy/trustStore", "trust/mine.yaml")],
        [
            (
                "hearth:policy.trustStore: is not a field of this part of the claim. Known fields: adopt, bounds, "
                "cluster, clusterCidrs, credentials, egress, evidence, evidenceWaiver, images, plaintext, registry, "
                "serveImage, vendor."
            )
        ],
    ),
    *(
        Case(
            f"S4-98 evidence {mode} without a waiver",
            [put("policy/evidence", mode)],
            [
                (
                    f'hearth:policy.evidence: is "{mode}", which outside the environment local needs a reason and an '
                    "end. Write enforce, and evidenceWaiver: {mode, reason, until} beside it if routes must not wait "
                    "for evidence."
                )
            ],
        )
        for mode in ("off", "warn")
    ),
    Case(
        "S4-98 a waiver beside a policy that has no end",
        [
            put("policy/evidence", "warn"),
            put("policy/evidenceWaiver", {"mode": "warn", "reason": "a move", "until": "2026-12-31"}),
        ],
        [
            (
                'hearth:policy.evidenceWaiver: says for how long not to enforce, and evidence is "warn" without an '
                "end. Write evidence: enforce beside it, which holds when the waiver has ended."
            )
        ],
    ),
    Case(
        "S4-98 a waiver of nothing, without reason and of no day",
        [put("policy/evidenceWaiver", {"mode": "enforce", "until": "2026-02-30"})],
        [
            "hearth:policy.evidenceWaiver.mode: must be one of off, warn. Write one of these.",
            "hearth:policy.evidenceWaiver.reason: is missing. Add it: who decided it and why, in words.",
            "hearth:policy.evidenceWaiver.until: is a day that does not exist. Write another value.",
        ],
    ),
    Case(
        "S4-86 the digest of a sidecar that Hearth runs",
        [put("endpoints/host/sidecar", {"configSha256": "a" * 64, "runtimePort": 11434})],
        [
            (
                f"hearth:endpoints.host.sidecar.{field}: is declared of a sidecar that Hearth runs itself. Remove it, "
                "or remove runtime if somebody else runs both."
            )
            for field in ("configSha256", "runtimePort")
        ],
    ),
    Case(
        "S4-55 a digest of other bytes",
        [put("trustBundles/home-ca/sha256", "0" * 64)],
        [
            (
                "hearth:trustBundles.home-ca.sha256: is not the digest of the file. Raise version and write "
                "what sha256sum prints, if the change is meant."
            )
        ],
    ),
    Case(
        "S4-54 a bundle that is not there",
        [put("trustBundles/home-ca/file", "trust/nothing.pem")],
        [
            (
                "hearth:trustBundles.home-ca.file: names no file of the project's folder. Correct the path, "
                "or add the file."
            )
        ],
    ),
    Case(
        "S4-54 a bundle that is no PEM",
        [put("trustBundles/home-ca/file", "versions.env")],
        [
            (
                "hearth:trustBundles.home-ca.file: holds something other than certificates. Keep CERTIFICATE "
                "blocks in it and nothing else."
            )
        ],
    ),
)
