"""Requests from an application's Pod, with nothing but its Secret, and what they were answered with."""

import json
from typing import Literal

from tests.cluster.platform import Platform

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


def chats(
    platform: Platform, person: str, count: int, *, how: Literal["body", "header", "nobody"] = "body"
) -> list[int]:
    """Ask the replicas in turn, as the application `notes`, and return the statuses."""
    hosts = json.dumps(platform.gateway_hosts())
    return list(json.loads(platform.kube.python("tenant-family", "notes", PROGRAM, person, hosts, how, str(count))))


def ask(platform: Platform, program: str, namespace: str = "tenant-family", pod: str = "notes") -> str:
    """Run a program in the Pod of an application, with the openai SDK as `client`; return what it prints."""
    return platform.kube.python(
        namespace, pod, f"import openai\nclient = openai.OpenAI(max_retries=0, timeout=300)\n{program}"
    )
