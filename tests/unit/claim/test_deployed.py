"""What may follow the claim that was deployed last."""

import pytest

from tests.unit.claim.examples import claim, load, problems, put

APP = "tenants/family/apps/notes"


@pytest.mark.parametrize("generation", [3, 4, 9])
def test_a_generation_goes_up_or_stays(generation: int) -> None:
    deployed = load(claim(put(f"{APP}/keyGeneration", 3))).claim
    assert problems(claim(put(f"{APP}/keyGeneration", generation)), deployed=deployed) == []


def test_a_generation_does_not_go_down() -> None:
    """The key of a lower generation would take the place of the used one at once (U-2)."""
    deployed = load(claim(put(f"{APP}/keyGeneration", 3))).claim
    assert problems(claim(), deployed=deployed) == [
        "hearth:tenants.family.apps.notes.keyGeneration: is below the deployed generation 3. Write 3, or 4 for a new "
        "key."
    ]


@pytest.mark.parametrize(
    "changes",
    [[put(APP, {"llm": False})], [put("tenants/family/apps", {"other": {"llm": True}})], [put("tenants", {})]],
)
def test_an_application_that_had_no_key_begins_anywhere(changes: list[object]) -> None:
    deployed = load(claim(*changes)).claim  # type: ignore[arg-type]
    assert problems(claim(), deployed=deployed) == []
