"""The models in an Ollama store that belongs to the role alone.

stored MODELS NAME
    print the digests by which the store has a model: its manifest, then its layers; each file is read and compared with
    its digest, about a second for each gigabyte
provide OLLAMA HOME NAME SHA256 [FILE]
    create a model from a GGUF file, or pull it from the library, and print its digests; it gets into the store when its
    manifest or one of its layers has the wanted one
undeclared MODELS NAME...
    print the files of the store that belong to no model of the list
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

SPARE = 268435456
"""Bytes that stay free beside a model, as when a file is downloaded."""


def manifest_of(models, name):
    """Return where the store keeps the manifest of a model."""
    path, _, tag = name.partition(":")
    parts = path.split("/")
    if len(parts) == 1:
        parts = ["library", *parts]
    if len(parts) == 2:
        parts = ["registry.ollama.ai", *parts]
    return models.joinpath("manifests", *parts, tag or "latest")


def layers_of(manifest):
    """Return the digests of everything that a manifest names; None when a full disk or a lost power left none in it."""
    try:
        found = json.loads(manifest.read_bytes())
        parts = [*found["layers"], *([found["config"]] if "config" in found else [])]
        return [part["digest"].removeprefix("sha256:") for part in parts]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def whole(blob, digest):
    """Return whether a part of a model is there and is what its name says."""
    if not blob.is_file():
        return False
    with blob.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == digest


def digests(models, name):
    """Return the digests of a model, its manifest's first; none when a part of it is missing or was changed."""
    manifest = manifest_of(models, name)
    if not manifest.is_file():
        return []
    layers = layers_of(manifest)
    if layers is None or not all(whole(models / "blobs" / f"sha256-{digest}", digest) for digest in layers):
        return []
    return [hashlib.sha256(manifest.read_bytes()).hexdigest(), *layers]


def serve(program, models, home):
    """Start a server for this store on a free loopback port; return it and its environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    proxies = {
        name: os.environ[name] for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY") if name in os.environ
    }
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "OLLAMA_MODELS": str(models),
        "OLLAMA_NO_CLOUD": "1",
        "OLLAMA_NOHISTORY": "1",
        # or it would begin with deleting what an earlier attempt has downloaded so far
        "OLLAMA_NOPRUNE": "1",
        **proxies,
    }
    server = subprocess.Popen([program, "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        if server.poll() is not None:
            sys.exit(f"ollama serve ended with {server.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, environment
        time.sleep(0.1)
    server.kill()
    sys.exit("ollama serve did not answer within 10 s")


def in_library(name):
    """Return the manifest that the library has for a model; none where it cannot be read: `ollama pull` says why."""
    registry, *parts, tag = manifest_of(pathlib.Path("/"), name).parts[2:]
    try:
        address = f"https://{registry}/v2/{'/'.join(parts)}/manifests/{tag}"
        with urllib.request.urlopen(address, timeout=30) as answer:
            return json.loads(answer.read(1 << 20))
    except (OSError, ValueError):
        return None


def check_room(incoming, manifest):
    """End with a sentence when what is left to download of a model does not fit onto the disk.

    The room of a part that an earlier attempt began is taken already, wherever the disk has it.
    """
    try:
        parts = {part["digest"]: part["size"] for part in [*manifest["layers"], manifest["config"]]}
        whole = sum(parts.values())
    except (KeyError, TypeError, AttributeError):
        return  # `ollama pull` says what is wrong with it
    there = sum(path.stat().st_blocks * 512 for path in incoming.glob("blobs/*"))
    needed, free = max(0, whole - there), shutil.disk_usage(incoming).free
    if needed + SPARE > free:
        sys.exit(
            f"{incoming.parent} has {free >> 20} MiB free, and {(needed + SPARE) >> 20} MiB are needed "
            f"({needed >> 20} to download, {SPARE >> 20} to spare). Free some space there"
        )


def run(command, environment):
    """Run a command; when it fails, end with the last thing that it said, without the signs that draw its progress."""
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", done.stderr.decode(errors="replace"))
        reason = [line.strip() for line in said.splitlines() if line.strip()][-1:]
        sys.exit(f"ollama {command[1]} ended with {done.returncode}: {' '.join(reason)}")


def bring(program, incoming, home, name, file):
    """Create a model from a file, or pull it, into a store of its own."""
    server, environment = serve(program, incoming, home)
    try:
        if file:
            with tempfile.TemporaryDirectory() as folder:
                description = pathlib.Path(folder, "Modelfile")
                description.write_text(f"FROM {file}\n")
                run([program, "create", name, "-f", str(description)], environment)
        else:
            run([program, "pull", name], environment)
    finally:
        server.terminate()
        server.wait(20)


def provide(program, home, name, wanted, file=None):
    """Bring a model into a store of its own, and from there into the real one when it is the declared one."""
    home = pathlib.Path(home)
    models = home / "models"
    incoming = home / f"incoming-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    for left in home.glob("incoming-*"):
        if file or left != incoming:
            shutil.rmtree(left, ignore_errors=True)
    incoming.mkdir(exist_ok=True)
    ended = False
    try:
        if not file:
            check_room(incoming, in_library(name))
        bring(program, incoming, home, name, file)
        ended = True
        found = digests(incoming, name)
        if wanted in found:
            (models / "blobs").mkdir(exist_ok=True)
            for digest in layers_of(manifest_of(incoming, name)):
                os.replace(incoming / "blobs" / f"sha256-{digest}", models / "blobs" / f"sha256-{digest}")
            manifest_of(models, name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(manifest_of(incoming, name), manifest_of(models, name))
    finally:
        # the next attempt goes on with the parts of a pull that broke
        if ended or file or not any(incoming.glob("blobs/*")):
            shutil.rmtree(incoming, ignore_errors=True)
    print("\n".join(found))


def undeclared(models, names):
    """Return the files of the store that belong to none of the models."""
    declared = {manifest_of(models, name) for name in names}
    kept = {f"sha256-{digest}" for manifest in declared if manifest.is_file() for digest in layers_of(manifest) or []}
    manifests = [path for path in models.glob("manifests/**/*") if path.is_file() and path not in declared]
    return manifests + [path for path in models.glob("blobs/*") if path.name not in kept]


def main():
    """Do what the first argument says."""
    command, *arguments = sys.argv[1:]
    if command == "provide":
        provide(*arguments)
        return
    models, *names = arguments
    models = pathlib.Path(models)
    if command == "stored":
        print("\n".join(digests(models, names[0])))
        return
    for path in undeclared(models, names):
        print(path)


main()
