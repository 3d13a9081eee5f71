"""Tests of the proxies run in a network namespace of their own: nothing leaves it, and every port is free."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ADDRESSES = (
    "10.77.0.1/32",
    "10.77.0.2/32",
    "10.77.1.1/32",
    "169.254.169.254/32",
    "100.100.100.200/32",
    "9.9.9.9/32",
    "fd12::1/128",
    "fd13::1/128",
    "2620:fe::9/128",
    "2002:a4d:1::1/128",
)
"""Addresses of the namespace's loopback device: in the zone, outside it, metadata, public, and IPv6."""


@pytest.fixture(scope="module")
def network() -> Iterator[None]:
    """A network namespace for the module's tests; the thread returns to its own afterwards."""
    if shutil.which("ip") is None:
        pytest.skip("no ip(8) on this machine: install iproute2")
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        try:
            os.unshare(os.CLONE_NEWNET)
        except PermissionError:
            pytest.skip("a network namespace needs root")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            for address in ADDRESSES:
                nodad = ["nodad"] if ":" in address else []
                subprocess.run(["ip", "addr", "add", address, "dev", "lo", *nodad], check=True)
            yield
        finally:
            os.setns(own, os.CLONE_NEWNET)
    finally:
        os.close(own)


@pytest.fixture(scope="module")
def haproxy_binary(network: None) -> str:
    """The HAProxy under test, HEARTH_HAPROXY or the one on PATH, for a module with a network of its own."""
    found = os.environ.get("HEARTH_HAPROXY") or shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if not found:
        pytest.skip("no haproxy on this machine: install the package, or name one in HEARTH_HAPROXY")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the module's own, readable for a process that is not root."""
    return tmp_path_factory.mktemp("wire")
