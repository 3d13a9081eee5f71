"""wait-ready.py URL SECONDS [BODY]: succeed as soon as URL answers 200; with BODY it is posted as JSON.

A file `api-key` in $CREDENTIALS_DIRECTORY is sent as the bearer credential. Run by systemd after a runtime's start, so
that its unit counts as started only when its model is loaded.
"""

import os
import pathlib
import sys
import time
import urllib.error
import urllib.request

url, seconds, *body = sys.argv[1:]
headers = {"Content-Type": "application/json"}
key = pathlib.Path(os.environ.get("CREDENTIALS_DIRECTORY", "/nonexistent"), "api-key")
if key.is_file():
    headers["Authorization"] = "Bearer " + key.read_text(encoding="utf-8").strip()
request = urllib.request.Request(url, data=body[0].encode() if body else None, headers=headers)  # noqa: S310 - loopback
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
end = time.monotonic() + float(seconds)
last = "no answer"
while (left := end - time.monotonic()) > 0:
    try:
        with opener.open(request, timeout=left) as answer:
            answer.read()
            sys.exit(0)
    except urllib.error.HTTPError as error:
        last = f"status {error.code}"
        if error.code not in (404, 429, 503):
            break
    except OSError as error:
        last = str(error)
    time.sleep(0.2)
sys.exit(f"{url} is not ready after {seconds} s: {last}")
