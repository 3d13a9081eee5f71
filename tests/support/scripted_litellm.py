"""A scripted LiteLLM: the management API in memory, for what a real one cannot be made to do in a test.

It is not LiteLLM. What it answers was copied from answers of 1.108.7 (tests/wire holds the client to the real one), and
`break_next` makes one call go wrong in a chosen way.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import httpx

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.management_api import ManagementApi

MASTER_KEY = "sk-scripted-master-0123456789abcdef"
Breakage = Callable[[httpx.Request], httpx.Response]


class ScriptedLiteLLM:
    """Teams, keys and budgets in dictionaries; every call is written down as `(path, body or query)`."""

    def __init__(self) -> None:
        self.teams: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, dict[str, Any]] = {}
        self.budgets: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.pauses: list[float] = []
        self._broken: dict[str, list[Breakage]] = {}

    def client(self) -> GatewayClient:
        return GatewayClient(self.api())

    def api(self) -> ManagementApi:
        return ManagementApi(
            "the scripted gateway",
            "Look at its Pods.",
            MASTER_KEY,
            base_url="http://scripted.invalid",
            transport=httpx.MockTransport(self._answer),
            pause=self.pauses.append,
        )

    def break_next(self, path: str, *breakages: Breakage) -> None:
        """Let the next calls of a path end this way instead."""
        self._broken.setdefault(path, []).extend(breakages)

    def paths(self) -> list[str]:
        """Every path that was called, reads left out."""
        reads = {"/team/info", "/key/list", "/budget/info"}
        return [path for path, _ in self.calls if path not in reads]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        given: dict[str, Any] = json.loads(request.content) if request.content else dict(request.url.params)
        self.calls.append((path, given))
        if self._broken.get(path):
            return self._broken[path].pop(0)(request)
        if request.headers["authorization"] != f"Bearer {MASTER_KEY}":
            return _error(401, "Authentication Error, Invalid API key provided.")
        handler = getattr(self, "_" + path.strip("/").replace("/", "_"))
        result: httpx.Response = handler(given)
        return result

    def _team_info(self, given: dict[str, Any]) -> httpx.Response:
        team = self.teams.get(given["team_id"])
        if team is None:
            return _error(404, f"{{'message': 'Team not found, passed team id: {given['team_id']}.'}}")
        return httpx.Response(200, json={"team_id": given["team_id"], "team_info": team, "keys": []})

    def _team_new(self, given: dict[str, Any]) -> httpx.Response:
        if given["team_id"] in self.teams:
            return _error(400, f"{{'error': 'Team id = {given['team_id']} already exists.'}}")
        self.teams[given["team_id"]] = {"metadata": {}, **given}
        return httpx.Response(200, json=self.teams[given["team_id"]])

    def _team_update(self, given: dict[str, Any]) -> httpx.Response:
        if given["team_id"] not in self.teams:
            return httpx.Response(404, json={"detail": {"error": "Team not found"}})
        self.teams[given["team_id"]].update(given)
        return httpx.Response(200, json={"data": self.teams[given["team_id"]]})

    def _team_delete(self, given: dict[str, Any]) -> httpx.Response:
        for team_id in given["team_ids"]:
            if self.teams.pop(team_id, None) is None:
                return httpx.Response(404, json={"detail": {"error": f"Team not found, passed team_id={team_id}"}})
            self.keys = {token: key for token, key in self.keys.items() if key["team_id"] != team_id}
        return httpx.Response(200, json={"deleted_teams": given["team_ids"]})

    def _key_generate(self, given: dict[str, Any]) -> httpx.Response:
        token = hashlib.sha256(given["key"].encode()).hexdigest()
        if any(key["key_alias"] == given["key_alias"] for key in self.keys.values()):
            return _error(400, f"Key with alias '{given['key_alias']}' already exists.")
        if token not in self.keys:
            rest = {name: value for name, value in given.items() if name != "key"}
            self.keys[token] = {"token": token, "metadata": {}, "models": [], "blocked": None, **rest}
        return httpx.Response(200, json={**given, "token": token})

    def _key_update(self, given: dict[str, Any]) -> httpx.Response:
        key = self.keys.get(given["key"])
        if key is None:
            return _error(404, "Key not found.")
        key.update({name: value for name, value in given.items() if name not in ("key", "duration")})
        if "duration" in given:
            key["expires"] = f"in {given['duration']}"
        return httpx.Response(200, json=key)

    def _key_block(self, given: dict[str, Any], blocked: bool = True) -> httpx.Response:
        if given["key"] not in self.keys:
            return _error(404, "Key not found.")
        self.keys[given["key"]]["blocked"] = blocked
        return httpx.Response(200, json=self.keys[given["key"]])

    def _key_unblock(self, given: dict[str, Any]) -> httpx.Response:
        return self._key_block(given, blocked=False)

    def _key_delete(self, given: dict[str, Any]) -> httpx.Response:
        found = [token for token in given["keys"] if self.keys.pop(token, None) is not None]
        return httpx.Response(200, json={"deleted_keys": found}) if found else _error(404, "{'error': 'No keys found'}")

    def _key_list(self, given: dict[str, Any]) -> httpx.Response:
        found = [
            key
            for key in self.keys.values()
            if given.get("key_hash") in (None, key["token"])
            and given.get("key_alias") in (None, key["key_alias"])
            and given.get("team_id") in (None, key["team_id"])
        ]
        size, page = int(given["size"]), int(given["page"])
        pages = -(-len(found) // size)
        shown = found[(page - 1) * size : page * size]
        return httpx.Response(
            200, json={"keys": shown, "total_count": len(found), "current_page": page, "total_pages": pages}
        )

    def _budget_info(self, given: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, json=[self.budgets[name] for name in given["budgets"] if name in self.budgets])

    def _budget_new(self, given: dict[str, Any]) -> httpx.Response:
        if given["budget_id"] in self.budgets:
            return httpx.Response(
                400, json={"detail": {"error": f"Budget with id '{given['budget_id']}' already exists."}}
            )
        self.budgets[given["budget_id"]] = dict(given)
        return httpx.Response(200, json=given)

    def _budget_update(self, given: dict[str, Any]) -> httpx.Response:
        if given["budget_id"] in self.budgets:
            self.budgets[given["budget_id"]].update(given)
        return httpx.Response(200, content=json.dumps(self.budgets.get(given["budget_id"])))

    def _budget_delete(self, given: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, content=json.dumps(self.budgets.pop(given["id"], None)))

    def _health_liveliness(self, _: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, json="I'm alive!")

    def _v1_models(self, _: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, json={"data": [{"id": "small"}, {"id": "large"}], "object": "list"})


def _error(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "type": "x", "param": None, "code": str(status)}})


def answers(status: int, body: Any = None) -> Breakage:
    """A breakage: this answer, whatever was asked."""
    return lambda _: httpx.Response(status, content=json.dumps(body))


def raises(error: type[httpx.TransportError]) -> Breakage:
    """A breakage: the connection fails this way."""

    def fail(request: httpx.Request) -> httpx.Response:
        raise error("scripted", request=request)

    return fail
