"""Ask a sidecar for one of its documents, as a client of its endpoint would.

Standard input is JSON: address and port to connect to, host that the certificate must carry, bundle that it must verify
against (PEM), header of the token and that header's value, path. Prints the answer; fails with 2 when there is no
connection, else with 1.
"""

import http.client
import json
import socket
import ssl
import sys

question = json.load(sys.stdin)
try:
    plain = socket.create_connection((question["address"], question["port"]), timeout=5)
except OSError as error:
    print(f"no connection to {question['address']} port {question['port']}: {error}", file=sys.stderr)
    sys.exit(2)
try:
    context = ssl.create_default_context(cadata=question["bundle"])
    # as HAProxy in the gateway verifies; from Python 3.13 on, the default asks for more of an authority's certificate
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    connection = http.client.HTTPSConnection(question["host"], question["port"], timeout=10)
    plain.settimeout(10)
    connection.sock = context.wrap_socket(plain, server_hostname=question["host"])
    connection.request("GET", question["path"], headers={question["header"]: question["credential"]})
    answer = connection.getresponse()
    text = answer.read().decode()
except (OSError, http.client.HTTPException, ValueError) as error:
    sys.exit(f"{question['address']} port {question['port']}: {error}")
if answer.status != 200:
    sys.exit(f"it answers with {answer.status}: {text}")
print(text)
