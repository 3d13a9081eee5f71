"""From a tenant's Pod only the client API answers, whatever the path is spelled like (S3-5, S4-70)."""

import json

import pytest

from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster

CLOSED = [
    "GET /",
    "GET /health",
    "GET /health/liveliness",
    "GET /health/readiness",
    "GET /model/info",
    "GET /v1/model/info",
    "GET /v2/model/info",
    "GET /key/info",
    "POST /key/generate",
    "GET /key/list",
    "POST /team/new",
    "POST /model/new",
    "GET /openapi.json",
    "GET /docs",
    "GET /routes",
    "GET /ui/",
    "GET /metrics",
    "GET /config/list",
    "GET /config/yaml",
    "POST /config/update",
    "GET /global/spend",
    "GET /spend/logs",
    "GET /public/model_hub",
    "GET /test",
    "POST /chat/completions",
    "GET /models",
    "GET /v1/models/",
    "GET /v1//models",
    "GET //v1/models",
    "GET /v1/./models",
    "GET /v1/../v1/models",
    "GET /v1/models/../../key/list",
    "GET /%76%31/models",
    "GET /v1%2fmodels",
    "GET /v1/models%00",
    "GET /v1/models;x",
    "GET /V1/models",
    "POST /v1/models",
    "GET /v1/chat/completions",
    "PUT /v1/chat/completions",
    "OPTIONS /v1/chat/completions",
    "TRACE /v1/models",
    "POST /openai/deployments/gemma/chat/completions",
    "POST /vertex_ai/x",
    "POST /anthropic/v1/messages",
    "POST /v1/messages",
    "GET /v1/files",
    "POST /v1/batches",
    "GET /mcp",
]

PROGRAM = """
import http.client, json, os, sys
answers = {}
for request in json.loads(sys.argv[1]):
    method, path = request.split(" ", 1)
    connection = http.client.HTTPConnection("llm-gateway.system-llm.svc.cluster.local", 4000, timeout=20)
    connection.putrequest(method, path, skip_accept_encoding=True)
    connection.putheader("Authorization", "Bearer " + os.environ["OPENAI_API_KEY"])
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    response = connection.getresponse()
    text = response.read().decode(errors="replace")
    try:
        code = json.loads(text)["error"]["code"]
    except Exception:
        code = text[:60]
    answers[request] = [response.status, code]
    connection.close()
print(json.dumps(answers))
"""


def test_all_but_the_client_api_is_404_from_the_front(platform: Platform) -> None:
    answers = json.loads(platform.kube.python("tenant-family", "notes", PROGRAM, json.dumps(CLOSED)))
    wrong = {request: answer for request, answer in answers.items() if answer != [404, "not_found"]}
    assert len(answers) == len(CLOSED)
    assert wrong == {}


def test_the_client_api_answers_by_the_same_way(platform: Platform) -> None:
    answers = json.loads(platform.kube.python("tenant-family", "notes", PROGRAM, json.dumps(["GET /v1/models"])))
    assert answers["GET /v1/models"][0] == 200
