"""The token Secrets of one namespace, listed once and then watched, with the rights of the Pod's ServiceAccount.

What is needed of the Kubernetes API is two calls. They are made here, so that a process that decides over access does
not carry the whole client of it.
"""

import asyncio
import json
import os
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from hearth.serve.token_store import INSTANCE_LABEL, TokenStore

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a Pod finds the token and the CA of the Kubernetes API."""
WATCH_SECONDS: Final = 30
"""The API server ends a watch after this time; it is opened again at once, and has then been heard of."""
SILENCE_SECONDS: Final = WATCH_SECONDS + 10
"""A watch without a byte for longer has lost its connection."""
PAGE: Final = 500
"""Secrets in one answer of a list."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
"""Seconds before the next try, and at most, each with up to as much again by chance."""
_GONE: Final = 410


class WatchError(Exception):
    """The Kubernetes API did not do what was asked; the message quotes no object."""

    def __init__(self, message: str, status: int = 0) -> None:
        """Keep the HTTP status, 0 when there is none."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Access:
    """How the Kubernetes API is reached."""

    url: str
    """Its address."""
    account: Path = SERVICE_ACCOUNT
    """Folder with `token`, which is read again for each call because the kubelet renews it, and `ca.crt`."""

    @classmethod
    def of_pod(cls, account: Path = SERVICE_ACCOUNT) -> "Access":
        """Return how a Pod reaches the API.

        Raises:
            WatchError: this is no Pod.
        """
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        if not host:
            raise WatchError("KUBERNETES_SERVICE_HOST is not set: the token server runs in a Pod")
        return cls(f"https://{f'[{host}]' if ':' in host else host}:{port}", account)

    def client(self) -> httpx.AsyncClient:
        """Return a client that trusts the CA of the API and no proxy of the environment.

        Raises:
            WatchError: the CA cannot be read.
        """
        try:
            context = ssl.create_default_context(cafile=str(self.account / "ca.crt"))
        except OSError as error:
            raise WatchError(f"{self.account}/ca.crt cannot be used: {type(error).__name__}") from None
        timeout = httpx.Timeout(10, read=SILENCE_SECONDS)
        return httpx.AsyncClient(base_url=self.url, verify=context, timeout=timeout, trust_env=False)

    def headers(self) -> dict[str, str]:
        """Return the headers of one call.

        Raises:
            WatchError: the token cannot be read.
        """
        try:
            token = (self.account / "token").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise WatchError(f"{self.account}/token cannot be read: {type(error).__name__}") from None
        return {"Authorization": f"Bearer {token}", "Accept": "application/json"}


class SecretWatch:
    """Keeps a store as the API server has it, and says how old what it knows is."""

    def __init__(
        self,
        store: TokenStore,
        access: Access,
        *,
        page: int = PAGE,
        say: Callable[[str], None] = print,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without any knowledge.

        Args:
            store: what is kept up to date.
            access: of the API.
            page: Secrets in one answer of a list.
            say: where a change of the connection is told.
            now: clock in seconds that never goes back.
        """
        self._store, self._access, self._page, self._say, self._now = store, access, page, say, now
        self._heard: float | None = None
        self._trouble: str | None = None

    @property
    def age(self) -> float | None:
        """Seconds since the API server was last heard of; none before the first list is complete."""
        return None if self._heard is None else self._now() - self._heard

    async def run(self) -> None:
        """Follow the API server until cancelled; no failure of it ends this."""
        pause = _FIRST_PAUSE
        version: str | None = None
        async with self._access.client() as client:
            while True:
                try:
                    if version is None:
                        version = await self._list(client)
                    version = await self._watch(client, version)
                    pause = _FIRST_PAUSE
                except (WatchError, httpx.HTTPError, ValueError, KeyError, TypeError) as error:
                    # A list that is only too old is made anew; all else is also mended best by one.
                    version = None
                    gone = isinstance(error, WatchError) and error.status == _GONE
                    if not gone:
                        self._tell(str(error) if isinstance(error, WatchError) else type(error).__name__)
                    await asyncio.sleep(pause * (1 + random.random()))  # noqa: S311 - keeps replicas apart
                    pause = min(pause * 2, _LONGEST_PAUSE)

    async def _list(self, client: httpx.AsyncClient) -> str:
        """Take over all Secrets, and return the version from which to watch."""
        found: list[Any] = []
        parameters = {"labelSelector": INSTANCE_LABEL, "limit": str(self._page)}
        while True:
            answer = await client.get(self._path, params=parameters, headers=self._access.headers())
            if answer.status_code != 200:
                raise WatchError(f"the list of Secrets was answered {answer.status_code}", answer.status_code)
            page = answer.json()
            found += page["items"]
            if not page["metadata"].get("continue"):
                break
            parameters["continue"] = page["metadata"]["continue"]
        version = str(page["metadata"]["resourceVersion"])
        self._store.replace(found)
        self._contact()
        return version

    async def _watch(self, client: httpx.AsyncClient, version: str) -> str:
        """Take over changes until the API server ends the watch, and return the version that was reached."""
        parameters = {
            "labelSelector": INSTANCE_LABEL,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        async with client.stream("GET", self._path, params=parameters, headers=self._access.headers()) as answer:
            if answer.status_code != 200:
                raise WatchError(f"the watch of Secrets was answered {answer.status_code}", answer.status_code)
            self._contact()
            async for line in answer.aiter_lines():
                if not line:
                    continue
                event = json.loads(line)
                kind, found = event["type"], event["object"]
                if kind == "ERROR":
                    code = int(found.get("code", 0))
                    raise WatchError(f"the watch of Secrets ended with {code}", code)
                if kind == "DELETED":
                    self._store.remove(found["metadata"]["name"])
                elif kind in ("ADDED", "MODIFIED"):
                    self._store.put(found)
                version = str(found["metadata"]["resourceVersion"])
                self._contact()
        self._contact()
        return version

    @property
    def _path(self) -> str:
        return f"/api/v1/namespaces/{self._store.namespace}/secrets"

    def _contact(self) -> None:
        first = self._heard is None
        self._heard = self._now()
        if first or self._trouble is not None:
            self._trouble = None
            self._say(f"{self._store.tokens} token(s) known, {self._store.refused} Secret(s) open nothing")

    def _tell(self, trouble: str) -> None:
        """Say once what is wrong, and again when it is something else."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._say(f"the Kubernetes API cannot be followed: {trouble}")
