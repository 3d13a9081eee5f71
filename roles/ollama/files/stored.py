"""stored.py MODELS NAME: the digests by which Ollama's store has a model, one a line: its manifest, then its layers.

Prints nothing when the model or one of its files is not there. Reads only.
"""

import hashlib
import json
import pathlib
import sys

models, name = pathlib.Path(sys.argv[1]), sys.argv[2]
path, _, tag = name.partition(":")
parts = path.split("/")
if len(parts) == 1:
    parts = ["library", *parts]
if len(parts) == 2:
    parts = ["registry.ollama.ai", *parts]
manifest = models.joinpath("manifests", *parts, tag or "latest")
if manifest.is_file():
    data = manifest.read_bytes()
    layers = [layer["digest"].removeprefix("sha256:") for layer in json.loads(data)["layers"]]
    if all((models / "blobs" / f"sha256-{digest}").is_file() for digest in layers):
        print("\n".join([hashlib.sha256(data).hexdigest(), *layers]))
