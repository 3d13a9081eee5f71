#!/usr/bin/python
"""Module `hearth.edge.download`: a large file by its digest, resumed where an earlier attempt ended."""

from __future__ import annotations

DOCUMENTATION = r"""
module: download
author: The Hearth authors
short_description: Download a large file by its digest
description:
  - Writes beside the destination into a file that ends with C(.part), which the next attempt goes on with, and moves it
    to its place when its digest is the declared one.
  - Refuses before anything is written when the file system has not enough space for the size that the server names.
    Check mode asks the server only for that.
  - Goes through the proxy that C(https_proxy) of the environment names.
options:
  url:
    description: Address of the file.
    type: str
    required: true
  dest:
    description: Path of the file; its folder has to be there, or in check mode one above it.
    type: path
    required: true
  sha256:
    description: Digest of the file, 64 hexadecimal digits.
    type: str
    required: true
  spare:
    description: Space that has to be left when the file is there, in bytes.
    type: int
    default: 268435456
  attempts:
    description: How often to go on after a connection that broke.
    type: int
    default: 5
attributes:
  check_mode:
    description: Can say what it would do.
    support: full
"""

EXAMPLES = r"""
- name: Download a model
  hearth.edge.download:
    url: https://models.corp.example/gemma.gguf
    dest: /var/lib/hearth/models/gemma.gguf
    sha256: "{{ digest }}"
"""

RETURN = r"""
size:
  description: Size of the file in bytes, when the server names it.
  type: int
  returned: when it is downloaded
"""

import hashlib
import http.client
import os
import shutil
import urllib.error
from collections.abc import Callable, Mapping
from typing import IO, Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url

CHUNK = 1 << 20
Opener = Callable[[Mapping[str, str]], Any]
"""Opens the file with these request headers; returns the response."""


class RefusedError(Exception):
    """Why there is no such file; the text is for the operator."""


def digest_of(path: str) -> str:
    """Return the digest of a file; empty when it is not there."""
    try:
        with open(path, "rb") as file:
            found = hashlib.sha256()
            while chunk := file.read(CHUNK):
                found.update(chunk)
            return found.hexdigest()
    except FileNotFoundError:
        return ""


def folder_above(path: str) -> str:
    """Return the nearest folder of a path that is there."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def ask(opener: Opener, have: int) -> tuple[Any, int, int]:
    """Return the response, from which byte on it is, and the whole size (-1 when the server does not name it)."""
    try:
        response = opener({"Range": f"bytes={have}-"} if have else {})
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        response = opener({})  # what is there is more than the server has
    length = int(response.headers.get("Content-Length") or -1)
    begins = have if response.status == 206 else 0
    return response, begins, begins + length if length >= 0 else -1


def check_space(path: str, needed: int, spare: int) -> None:
    """Refuse a file that its file system has no room for."""
    folder = folder_above(path)
    free = shutil.disk_usage(folder).free
    if needed + spare > free:
        raise RefusedError(
            f"{folder} has {free >> 20} MiB free, and {(needed + spare) >> 20} MiB are needed "
            f"({needed >> 20} to download, {spare >> 20} to spare). Free some space there"
        )


def write(response: IO[bytes], path: str, begins: int) -> None:
    """Write the rest of a file."""
    with open(path, "r+b" if begins else "wb") as file:
        file.seek(begins)
        file.truncate()
        while chunk := response.read(CHUNK):
            file.write(chunk)


def download(opener: Opener, dest: str, sha256: str, spare: int, attempts: int, dry: bool) -> int:
    """Bring the file, or only see whether it could be; return its size.

    Raises:
        RefusedError: there is no room, the connection broke too often, or the file is another one.
    """
    part = f"{dest}.part"
    for left in reversed(range(attempts)):
        try:
            response, begins, size = ask(opener, os.path.getsize(part) if os.path.exists(part) else 0)
            with response:
                check_space(dest, max(0, size - begins), spare)
                if dry:
                    return size
                write(response, part, begins)
            if size in (-1, os.path.getsize(part)):
                break
        except (OSError, http.client.HTTPException) as error:
            if not left or isinstance(error, urllib.error.HTTPError):
                raise RefusedError(f"the download ended: {error}") from error
    else:
        raise RefusedError(
            "the connection ended before the file did, each time; the next run goes on with what is there"
        )
    found = digest_of(part)
    if found != sha256:
        os.unlink(part)
        raise RefusedError(f"it has the digest {found}, not the declared {sha256}, and was thrown away")
    os.chmod(part, 0o644)
    os.replace(part, dest)
    return size


def main() -> None:
    """Run as Ansible's module."""
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "dest": {"type": "path", "required": True},
            "sha256": {"type": "str", "required": True},
            "spare": {"type": "int", "default": 268435456},
            "attempts": {"type": "int", "default": 5},
        },
        supports_check_mode=True,
    )
    given = module.params
    if digest_of(given["dest"]) == given["sha256"]:
        module.exit_json(changed=False)

    def opener(headers: Mapping[str, str]) -> Any:
        return open_url(given["url"], headers=dict(headers), timeout=60, http_agent="hearth")

    try:
        size = download(
            opener, given["dest"], given["sha256"], given["spare"], given["attempts"], dry=module.check_mode
        )
    except RefusedError as refused:
        module.fail_json(msg=f"{given['url']}: {refused}.")
    module.exit_json(changed=True, size=size)


if __name__ == "__main__":
    main()
