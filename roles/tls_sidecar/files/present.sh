# present FOLDER: what a sidecar's folder holds, as JSON. Reads only.
exec python3 -I - "$1" <<'PYTHON'
import hashlib, json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
current = folder / "current"
found = {"release": "", "certificate": "", "tokens": [], "edited": []}
if current.is_symlink():
    found["release"] = pathlib.Path(current.readlink()).name
    sums = current / "SHA256SUMS"
    lines = sums.read_text(errors="replace").splitlines() if sums.is_file() else []
    parts = [line.partition("  ") for line in lines]
    written = {name: digest for digest, gap, name in parts if gap}
    if not all(gap for _, gap, _ in parts):
        found["edited"].append(str(sums))
    there = {path.name: path for path in current.iterdir() if path.name != "SHA256SUMS"} if current.is_dir() else {}
    for name in sorted({*written, *there}):
        digest = hashlib.sha256(there[name].read_bytes()).hexdigest() if name in there and there[name].is_file() else ""
        if digest != written.get(name):
            found["edited"].append(str(current / name))
    if (current / "tls.crt").is_file():
        found["certificate"] = (current / "tls.crt").read_text(errors="replace")
    if (current / "tokens.map").is_file():
        words = [line.split() for line in (current / "tokens.map").read_text(errors="replace").splitlines()]
        found["tokens"] = [line[0] for line in words if line]
print(json.dumps(found))
PYTHON
