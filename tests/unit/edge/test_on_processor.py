"""Which models of an Ollama run on the processor although they were to run on a GPU."""

import http.server
import json
import subprocess
import sys
from pathlib import Path

from tests.support.serving import serving

PROGRAM = (Path(__file__).parents[3] / "roles/ollama/files/on_processor.py").read_text(encoding="utf-8")
LOADED = {"models": [{"name": "gpu", "size_vram": 5}, {"name": "cpu", "size_vram": 0}, {"name": "old"}]}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = json.dumps(LOADED if self.path == "/api/ps" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass


def test_models_without_anything_in_a_gpus_memory_are_named() -> None:
    with serving(http.server.HTTPServer(("127.0.0.1", 0), Handler)) as server:
        command = [sys.executable, "-I", "-c", PROGRAM, f"http://127.0.0.1:{server.server_port}"]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["cpu", "old"]
