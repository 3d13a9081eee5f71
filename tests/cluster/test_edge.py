"""A host outside the cluster answers an application inside it: both halves of Hearth, out of one claim (S4-147)."""

import json

import pytest

from tests.cluster.box import REFERENCE, Box
from tests.cluster.chats import ask
from tests.cluster.load import Load
from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def box(platform: Platform) -> Box:
    """The host, installed, with its token at the gateway."""
    if platform.box is None:
        pytest.skip("the cluster runs in Docker, and container hosts run in podman")
    platform.box.wait()
    return platform.box


def test_an_application_gets_its_answer_from_the_host(platform: Platform, box: Box) -> None:
    assert platform.hearth_credentials("set", "--endpoint", REFERENCE, stdin=box.token()).returncode == 0
    platform.rolled_out()
    answer = ask(
        platform,
        """
r = client.chat.completions.create(model="box", max_tokens=16, messages=[{"role": "user", "content": "Say hello."}])
pieces = [e for e in client.chat.completions.create(model="box", max_tokens=16, stream=True,
    messages=[{"role": "user", "content": "Count to five."}]) if e.choices and e.choices[0].delta.content]
import json; print(json.dumps([r.choices[0].message.content, r.usage.completion_tokens, len(pieces)]))
""",
    )
    text, tokens, pieces = json.loads(answer)
    assert text.strip()
    assert 1 <= tokens <= 16
    assert pieces >= 3


def test_the_token_is_rotated_on_both_sides_without_a_failed_request(platform: Platform, box: Box) -> None:
    first = box.token()
    platform.rolled_out()
    with Load(platform, workers=1, model="box", pause=0.5) as load:
        box.play("playbooks/rotate.yml", "-e", "hearth_rotate=token-begin")
        done = platform.hearth_credentials("set", "--endpoint", REFERENCE, stdin=box.token(".next"))
        assert done.returncode == 0, done.stderr
        platform.rolled_out()
        box.play("playbooks/rotate.yml", "-e", "hearth_rotate=token-finish")
        assert box.token() != first
        result = load.finish()
    assert result.failures == {}, result
    assert result.answered > 20
    assert "changed=0" in box.play("playbooks/edge.yml")
