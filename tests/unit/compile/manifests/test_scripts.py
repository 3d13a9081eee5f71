"""The scripts that containers run, on this machine, with stand-ins for the programs that they call."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from hearth.compile.manifests.common import text_file

CANARY = "c4n4ry-s3cret"


class Sandbox:
    """A folder in which the absolute paths of a script lie, and stand-ins that write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        self.calls.touch()
        for name in ("bin", "tmp", "run", "etc"):
            (folder / name).mkdir()

    def program(self, name: str, body: str) -> None:
        file = self.folder / "bin" / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        file.chmod(0o755)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        text = re.sub(r"/(etc|tmp)/", rf"{self.folder}/\1/", text_file(script))
        file = self.folder / script
        file.write_text(text)
        path = f"{self.folder}/bin:/usr/bin:/bin"
        return subprocess.run(
            ["sh", str(file)], env={"PATH": path, **environment}, capture_output=True, text=True, timeout=30
        )


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


class Database(Sandbox):
    """A sandbox for prepare.sh."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        secret = folder / "etc" / "llm-database-secret"
        secret.mkdir()
        (secret / "owner-password").write_text(CANARY)
        (secret / "gateway-password").write_text(CANARY)
        self.volume = folder / "data"
        self.volume.mkdir()
        self.data = self.volume / "postgresql"
        self.program("initdb", f'mkdir "{self.volume}/new"; echo 17 >"{self.volume}/new/PG_VERSION"')
        self.program("pg_ctl", "")
        self.program("psql", "")

    def prepare(self) -> subprocess.CompletedProcess[str]:
        return self.run("prepare.sh", PGDATA=str(self.data), POSTGRES_MAJOR="17")

    def called(self) -> list[str]:
        return [line.split(" ")[0] for line in self.calls.read_text().splitlines()]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path)


def test_an_empty_volume_gets_a_data_directory_once(database: Database) -> None:
    assert database.prepare().returncode == 0
    assert database.called() == ["initdb", "pg_ctl", "psql", "pg_ctl"]
    assert (database.data / "PG_VERSION").read_text() == "17\n"
    assert database.prepare().returncode == 0
    assert database.called() == ["initdb", "pg_ctl", "psql", "pg_ctl", "pg_ctl", "psql", "pg_ctl"]


def test_an_interrupted_first_start_begins_again(database: Database) -> None:
    (database.volume / "new").mkdir()
    (database.volume / "lost+found").mkdir()
    assert database.prepare().returncode == 0
    assert not (database.volume / "new").exists()
    assert database.data.is_dir()


def test_somebody_elses_data_is_left_alone(database: Database) -> None:
    (database.volume / "pgdata").mkdir()
    done = database.prepare()
    assert done.returncode == 1
    assert "the volume has pgdata on it but no postgresql; nothing was changed" in done.stderr
    assert database.called() == []
    assert (database.volume / "pgdata").is_dir()


def test_data_of_another_major_version_is_left_alone(database: Database) -> None:
    database.data.mkdir()
    (database.data / "PG_VERSION").write_text("16\n")
    done = database.prepare()
    assert done.returncode == 1
    assert "the volume holds data of PostgreSQL 16 and this is 17" in done.stderr
    assert database.called() == []


@pytest.mark.parametrize("missing", ["owner-password", "gateway-password"])
def test_an_empty_password_is_refused_before_anything_is_made(database: Database, missing: str) -> None:
    (database.folder / "etc" / "llm-database-secret" / missing).write_text("")
    done = database.prepare()
    assert done.returncode == 1
    assert f"the Secret has no {missing}" in done.stderr
    assert database.called() == []


def test_roles_that_cannot_be_set_stop_the_start_and_the_server(database: Database) -> None:
    database.program("psql", "exit 3")
    done = database.prepare()
    assert done.returncode == 1
    assert "the roles could not be set" in done.stderr
    assert database.called()[-1] == "pg_ctl"
    assert database.calls.read_text().splitlines()[-1].endswith("--mode=fast stop")


def test_what_postgresql_says_is_shown_when_it_does_not_start(database: Database) -> None:
    database.program("pg_ctl", f'echo "FATAL: why" >"{database.folder}/tmp/prepare.log"; exit 1')
    done = database.prepare()
    assert done.returncode == 1
    assert "FATAL: why" in done.stderr
    assert "PostgreSQL does not start" in done.stderr


def test_preparing_shows_no_password(database: Database) -> None:
    done = database.prepare()
    assert CANARY not in done.stdout + done.stderr + database.calls.read_text()


class Model(Sandbox):
    """A sandbox for fetch.sh."""

    content = b"weights"
    sha256 = hashlib.sha256(content).hexdigest()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "models").mkdir()
        self.model = folder / "models" / "0.gguf"
        self.part = folder / "models" / "0.gguf.part"
        self.program("curl", f'cat "{folder}/tmp/headers" >"{folder}/seen"; printf weights >"{self.part}"')

    def fetch(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run("fetch.sh", MODEL=str(self.model), SHA256=self.sha256, **environment)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)


def test_a_copied_file_with_the_declared_digest_is_let_through(model: Model) -> None:
    model.part.write_bytes(model.content)
    assert model.fetch().returncode == 0
    assert model.model.read_bytes() == model.content
    assert not model.part.exists()


@pytest.mark.parametrize("content", [b"", b"other weights"])
def test_a_file_with_another_digest_is_deleted(model: Model, content: bytes) -> None:
    model.part.write_bytes(content)
    done = model.fetch()
    assert done.returncode == 1
    assert f"does not have the declared SHA-256 {model.sha256}" in done.stderr
    assert list(model.model.parent.iterdir()) == []


def test_a_file_that_was_not_brought_is_refused(model: Model) -> None:
    assert model.fetch().returncode == 1


def test_a_model_that_is_there_is_not_fetched_again(model: Model) -> None:
    model.model.write_bytes(model.content)
    model.part.write_bytes(b"half")
    assert model.fetch(URL="https://models.example/m").returncode == 0
    assert model.calls.read_text() == ""
    assert not model.part.exists()


def test_a_damaged_model_is_fetched_again(model: Model) -> None:
    model.model.write_bytes(b"damaged")
    assert model.fetch(URL="https://models.example/m").returncode == 0
    assert model.model.read_bytes() == model.content


def test_a_download_stays_on_https_and_resumes(model: Model) -> None:
    assert model.fetch(URL="https://models.example/m").returncode == 0
    (call,) = model.calls.read_text().splitlines()
    assert call.endswith("https://models.example/m")
    for option in ("--proto =https", "--proto-redir =https", "--fail", "--continue-at -", "--retry 8"):
        assert option in call


def test_a_failed_download_fails(model: Model) -> None:
    model.program("curl", "exit 22")
    assert model.fetch(URL="https://models.example/m").returncode == 22
    assert not model.model.exists()


def test_the_hub_token_is_a_header_and_never_an_argument(model: Model) -> None:
    hub = model.folder / "etc" / "hub-credentials"
    hub.mkdir()
    (hub / "token").write_text(CANARY)
    done = model.fetch(URL="https://huggingface.co/m")
    assert done.returncode == 0
    assert (model.folder / "seen").read_text() == f"Authorization: Bearer {CANARY}\n"
    assert CANARY not in model.calls.read_text() + done.stdout + done.stderr


def test_without_a_hub_token_no_header_is_sent(model: Model) -> None:
    assert model.fetch(URL="https://huggingface.co/m").returncode == 0
    assert (model.folder / "seen").read_text() == ""


def test_psql_gets_its_password_as_a_file_of_its_own(sandbox: Sandbox) -> None:
    secret = sandbox.folder / "etc" / "llm-migrations-secret"
    secret.mkdir()
    (secret / "pgpass").write_text(f"*:*:*:litellm:{CANARY}\n")
    sandbox.program("psql", "")
    pgpass = sandbox.folder / "run" / "pgpass"
    done = sandbox.run("lockdown.sh", PGPASSFILE=str(pgpass))
    assert done.returncode == 0
    assert pgpass.read_text() == f"*:*:*:litellm:{CANARY}\n"
    assert pgpass.stat().st_mode & 0o077 == 0
    (call,) = sandbox.calls.read_text().splitlines()
    assert CANARY not in call
    # the script commits each table by itself
    assert "--single-transaction" not in call
    assert "ON_ERROR_STOP=1" in call


class Ollama(Sandbox):
    """A sandbox for ollama.sh."""

    manifest = b"manifest"
    sha256 = hashlib.sha256(manifest).hexdigest()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.library = folder / "library" / "manifests" / "r"
        self.library.mkdir(parents=True)
        (self.library / "m").write_bytes(self.manifest)
        self.program("ollama", '[ "$1" = serve ] && exec sleep 20; exit 0')

    def run_import(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run("ollama.sh", OLLAMA_MODELS=str(self.folder / "library"), MODEL_NAME="gemma", **environment)


def test_ollama_imports_a_file_under_the_deployments_name(tmp_path: Path) -> None:
    ollama = Ollama(tmp_path)
    assert ollama.run_import(MODEL_FILE="/models/0.gguf").returncode == 0
    assert f"ollama create gemma --file {tmp_path}/tmp/Modelfile" in ollama.calls.read_text()
    assert (tmp_path / "tmp" / "Modelfile").read_text() == "FROM /models/0.gguf\n"


def test_ollama_keeps_a_library_model_with_the_declared_manifest(tmp_path: Path) -> None:
    ollama = Ollama(tmp_path)
    assert ollama.run_import(SHA256=ollama.sha256, MANIFEST="r/m").returncode == 0
    assert "ollama pull gemma" in ollama.calls.read_text()
    assert "ollama rm" not in ollama.calls.read_text()


def test_ollama_removes_a_library_model_with_another_manifest(tmp_path: Path) -> None:
    ollama = Ollama(tmp_path)
    done = ollama.run_import(SHA256="0" * 64, MANIFEST="r/m")
    assert done.returncode == 1
    assert "does not have the declared SHA-256" in done.stderr
    assert "ollama rm gemma" in ollama.calls.read_text()


def test_an_ollama_that_does_not_start_says_why(tmp_path: Path) -> None:
    ollama = Ollama(tmp_path)
    ollama.program("ollama", '[ "$1" = serve ] && { echo "no memory"; exit 1; }; exit 1')
    done = ollama.run_import(MODEL_FILE="/models/0.gguf")
    assert done.returncode == 1
    assert "no memory" in done.stderr
