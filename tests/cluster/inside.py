"""What is asked inside the Pods of the gateway and its database, where the keys and passwords are."""

import json

from tests.cluster.platform import Platform

ADMIN = """
import http.client, json, os, socket, sys
method, path, body = sys.argv[1:4]
connection = http.client.HTTPConnection("localhost", timeout=60)
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.settimeout(60)
connection.sock.connect("/run/hearth/management.sock")
connection.request(method, path, body.encode() if body else None,
    {"Authorization": "Bearer " + os.environ["LITELLM_MASTER_KEY"], "Content-Type": "application/json"})
answer = connection.getresponse()
text = answer.read().decode()
print(json.dumps([answer.status, json.loads(text or "null") if answer.status < 400 else text[:300]]))
"""


PORT = """
import json, os, urllib.error, urllib.request
request = urllib.request.Request("http://127.0.0.1:4001/key/generate", b"{}",
    {"Authorization": "Bearer " + os.environ["LITELLM_MASTER_KEY"], "Content-Type": "application/json"})
try:
    print(urllib.request.urlopen(request, timeout=60).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
"""Asks for a key at the port for administration, as what LiteLLM could be made to call."""


def admin(platform: Platform, method: str, path: str, body: object = None, pod: str | None = None) -> list[object]:
    """Call LiteLLM's management API by its own socket inside a gateway Pod, where its master key is."""
    text = json.dumps(body) if body is not None else ""
    name = pod or platform.gateway_pods()[0]
    answer = platform.kube.execute(
        "system-llm", name, "python3", "-", method, path, text, stdin=ADMIN, container="litellm"
    )
    return list(json.loads(answer))


def sql(platform: Platform, role: str, statement: str) -> str:
    """Run SQL in the database's Pod as a role; return output and errors.

    `postgres` comes over the Unix socket and has no password; the others' comes by standard input.
    """
    pod = platform.kube.pod_names("system-llm", "hearth.dev/role=database")[0]
    if role == "postgres":
        script = "psql -X -At -v ON_ERROR_STOP=1 -h /run/postgresql -U postgres -d litellm 2>&1 || true"
        return platform.kube.execute("system-llm", pod, "sh", "-c", script, stdin=statement, container="postgres")
    names = [
        secret["metadata"]["name"]
        for secret in platform.kube.json("-n", "system-llm", "get", "secrets")["items"]
        if secret["metadata"]["name"].startswith("llm-database-")
    ]
    key = {"litellm": "owner-password", "litellm_gateway": "gateway-password"}[role]
    password = platform.kube.secret("system-llm", names[-1])[key]
    script = (
        "read -r PGPASSWORD; export PGPASSWORD; "
        f"psql -X -At -v ON_ERROR_STOP=1 -h 127.0.0.1 -U {role} -d litellm 2>&1 || true"
    )
    return platform.kube.execute(
        "system-llm", pod, "sh", "-c", script, stdin=f"{password}\n{statement}\n", container="postgres"
    )
