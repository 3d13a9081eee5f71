"""wait-ready.py URL SECONDS [BODY]: succeed as soon as URL answers 200; with BODY it is posted as JSON.

Run by systemd after a runtime's start, so that its unit counts as started only when its model is loaded.
systemd names the runtime's process in MAINPID; when that one ends there is nothing left to wait for.
"""

import os
import sys
import time
import urllib.error
import urllib.request

url, seconds, *body = sys.argv[1:]
headers = {"Content-Type": "application/json"}
request = urllib.request.Request(url, data=body[0].encode() if body else None, headers=headers)  # noqa: S310 - loopback
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
runtime = int(os.environ.get("MAINPID") or 0)
end = time.monotonic() + float(seconds)
last = "no answer"
while (left := end - time.monotonic()) > 0:
    try:
        os.kill(runtime, 0)  # no signal; only whether it could be sent (0 is this program's own group)
    except ProcessLookupError:
        sys.exit(f"{url} will not be ready: the runtime has ended, and says why in the lines before")
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
