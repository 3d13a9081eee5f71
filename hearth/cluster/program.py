"""What `pulumi up` runs: load the claim out of Pulumi's configuration, compile it, hand it to the platform."""

import datetime
from collections.abc import Mapping
from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG
from pydantic import ValidationError

from hearth.claim.claim import Claim
from hearth.claim.loader import PREFIX, LoadedClaim, load_claim_values
from hearth.claim.problems import ClaimError
from hearth.claim.resolver import system_resolver
from hearth.cluster.platform import Platform
from hearth.environment import compile_environment
from hearth.gatewayapi.errors import GatewayError

CLAIM_OUTPUT = "claim"
"""Stack output with the deployed claim."""


def deployed_claim() -> Claim | None:
    """Return the claim that this stack deployed last; its addresses are not resolved again (S3-25).

    A claim that this version cannot read counts as none: then every address is resolved.
    """
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    result = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": name})
    outputs = (result.value or {}).get("outputs") or {}
    text = outputs.get(CLAIM_OUTPUT)
    if not isinstance(text, str):
        return None
    try:
        return Claim.model_validate_json(text)
    except ValidationError:
        return None


def _refused(error: ClaimError) -> pulumi.RunError:
    return pulumi.RunError(f"the claim is refused; nothing was changed\n{error}")


def load(values: Mapping[str, object]) -> LoadedClaim:
    """Load the claim, and say everything that is wrong with it at once.

    Raises:
        pulumi.RunError: the claim is refused; nothing has been declared by then.
    """
    try:
        return load_claim_values(
            {key: value for key, value in values.items() if key.startswith(PREFIX)},
            base=Path(pulumi.get_root_directory()),
            stack=pulumi.get_stack(),
            resolver=system_resolver,
            deployed=deployed_claim(),
        )
    except ClaimError as error:
        raise _refused(error) from None


def run() -> None:
    """Declare the platform of this stack.

    Raises:
        pulumi.RunError: the claim or its evidence is refused.
    """
    loaded = load(CONFIG.get())
    try:
        environment = compile_environment(loaded, now=datetime.datetime.now(datetime.UTC))
        Platform(pulumi.get_stack(), environment.topology, environment.artefacts)
    except ClaimError as error:
        raise _refused(error) from None
    except GatewayError as error:
        raise pulumi.RunError(str(error)) from None
    for notice in environment.warnings:
        pulumi.log.warn(str(notice))
    # Encrypted, because it names the hosts of a private network, and because it would fill the screen.
    pulumi.export(CLAIM_OUTPUT, pulumi.Output.secret(loaded.claim.model_dump_json(by_alias=True)))
    pulumi.export("snapshot", environment.artefacts.snapshot_sha256)
