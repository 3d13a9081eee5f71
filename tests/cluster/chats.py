"""Several short chats from an application's Pod, and what each was answered with."""

import json
from typing import Literal

from tests.cluster.conftest import Platform

PROGRAM = """
import json, os, sys
import httpx
person, hosts, how, count = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], int(sys.argv[4])
statuses = []
for i in range(count):
    body = {"model": "scripted", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    if how == "header":
        headers["x-litellm-end-user-id"] = person
    elif how == "body":
        body["user"] = person
    url = f"http://{hosts[i % len(hosts)]}:4000/v1/chat/completions"
    statuses.append(httpx.post(url, json=body, headers=headers, timeout=60).status_code)
print(json.dumps(statuses))
"""


def gateway_hosts(platform: Platform) -> list[str]:
    """Addresses of the gateway's Pods."""
    return [pod["status"]["podIP"] for pod in platform.kube.pods("system-llm", "hearth.dev/role=gateway")]


def chats(
    platform: Platform, person: str, count: int, *, how: Literal["body", "header", "nobody"] = "body"
) -> list[int]:
    """Ask the replicas in turn, as the application `notes`, and return the statuses."""
    hosts = json.dumps(gateway_hosts(platform))
    return list(json.loads(platform.kube.python("tenant-family", "notes", PROGRAM, person, hosts, how, str(count))))
