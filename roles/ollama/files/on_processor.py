"""on_processor.py URL: the loaded models of an Ollama that have nothing in a GPU's memory, one a line."""

import json
import sys
import urllib.request

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
with opener.open(f"{sys.argv[1]}/api/ps", timeout=30) as answer:
    loaded = json.load(answer)["models"]
for model in loaded:
    if not model.get("size_vram"):
        print(model["name"])
