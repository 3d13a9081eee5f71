"""A Kubernetes API that answers one question: the identity of its cluster. It listens on loopback."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml


def kubeconfig(server: str = "https://127.0.0.1:1", **more: Any) -> str:
    """Return a kubeconfig with the contexts `here`, which is current, and `there`."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "canary-token"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("here", "there")],
        **more,
    }
    return yaml.safe_dump(content)


@contextmanager
def cluster_with(uid: str) -> Iterator[str]:
    """Run a cluster of this identity; yield a kubeconfig that leads to it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/api/v1/namespaces/kube-system"
            body = json.dumps({"metadata": {"uid": uid}} if found else {"message": "not scripted"}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield kubeconfig(f"http://127.0.0.1:{server.server_address[1]}")
        finally:
            server.shutdown()
            thread.join()
