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
        "S4-102 no trust store",
        [drop("policy/trustStore")],
        [
            (
                "hearth:policy.trustStore: is missing, and the evidence of the endpoint pod is verified with "
                'it. Name the file of the runners\' public keys, or set evidence to "off".'
            )
        ],
    ),
    Case(
        "S4-102 a trust store that is not there",
        [put("policy/trustStore", "trust/nobody.yaml")],
        [
            (
                "hearth:policy.trustStore: names no file of the project's folder. Get it from those who own it, "
                "or correct the path."
            )
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
