"""Real PostgreSQL and Valkey on loopback, of the versions that the images have."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support.processes import Processes, free_port
from tests.support.tools import tool

PLAIN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


class Postgres:
    """A server of which every database is made by a test. Its owner is `postgres`, without a password."""

    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, database: str = "postgres", *, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, *, template: str = "template1") -> str:
        """Make a database, as a copy of another if one is named, and return its URL."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'create database "{database}" template "{template}"'.encode())
        return self.url(database)

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start PostgreSQL in a folder of its own, which is removed afterwards; as nobody where this is root."""
    user = "nobody" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="hearth-postgres-") as name:
        folder = Path(name)
        programs = tool("postgres")
        if user is not None:  # who cannot read root's cache
            programs = shutil.copytree(programs, folder / "programs", symlinks=True)
            shutil.chown(folder, user)
        data, port = folder / "data", free_port()
        subprocess.run(
            [programs / "bin/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
            user=user,
            env=PLAIN,
            cwd="/",
            check=True,
            stdout=subprocess.DEVNULL,
        )
        settings = {
            "port": str(port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(folder),
            "fsync": "off",
            "max_connections": "100",
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        processes, server = Processes(folder), Postgres(port)
        try:
            processes.start("postgres", [str(programs / "bin/postgres"), "-D", str(data), *options], PLAIN, user=user)
            processes.wait(server.answers)
            yield server
        finally:
            processes.stop()


@contextmanager
def valkey(folder: Path) -> Iterator[int]:
    """Start Valkey without persistence; the value is its port."""
    port, processes = free_port(), Processes(folder)
    program = str(tool("valkey") / "usr/bin/valkey-server")
    try:
        processes.start("valkey", [program, "--bind", "127.0.0.1", "--save", "", "--port", str(port)], PLAIN)
        processes.wait(lambda: "Ready to accept connections" in (folder / "valkey.log").read_text())
        yield port
    finally:
        processes.stop()
