"""After the rotation: the real runtimes answer again, and nothing is left to be done."""

from tests.support.edge import Endpoint, play


def test_the_model_answers_with_the_new_token_and_certificate(endpoint: Endpoint, edge_model: str) -> None:
    with endpoint.client() as client:
        answer = client.chat.completions.create(
            model=edge_model, messages=[{"role": "user", "content": "Hello"}], max_tokens=2
        )
    assert answer.choices


def test_the_next_run_changes_nothing() -> None:
    shown = play("playbooks/edge.yml").stdout
    assert shown.count("changed=0") == 2, shown
