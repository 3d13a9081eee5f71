"""provide.py OLLAMA HOME NAME [FILE]: put a model into Ollama's store, out of a GGUF file or out of the library.

Starts a server on a free loopback port for as long as it takes.
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

program, home, name, file = sys.argv[1:]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
environment = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": home,
    "OLLAMA_HOST": f"127.0.0.1:{port}",
    "OLLAMA_MODELS": f"{home}/models",
    "OLLAMA_NO_CLOUD": "1",
    "OLLAMA_NOHISTORY": "1",
}
for variable in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
    if variable in os.environ:
        environment[variable] = os.environ[variable]
server = subprocess.Popen([program, "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(100):
        if server.poll() is not None:
            sys.exit(f"ollama serve ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    if file:
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "Modelfile")
            model.write_text(f"FROM {file}\n")
            command = [program, "create", name, "-f", str(model)]
            sys.exit(subprocess.run(command, env=environment).returncode)
    sys.exit(subprocess.run([program, "pull", name], env=environment).returncode)
finally:
    server.terminate()
    server.wait(20)
