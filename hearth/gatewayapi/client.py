"""The typed client: exactly the management calls that Hearth needs of LiteLLM 1.108.7, every write read back (U-2).

What was found out by trying, and shapes this client:

- `/key/info` still answers for a key that was deleted; only `/key/list` says whether a key is there.
- Registering a value again under another alias answers 200 and changes nothing.
- `/budget/update` and `/budget/delete` answer 200 `null` for a budget that does not exist.
- An empty list of models means every model, for a team and for a key; so none is ever sent.
- `/team/update` and `/key/update` keep what is not in the body, and clear what is `null`.
- `/team/new` and `/team/update` take `max_parallel_requests` and forget it; only keys have that limit.
- A key is named by its SHA-256 wherever a key is expected, so its value is sent once and never again.
- `/key/block` acts on every replica at once; a deletion reaches the others when their caches forget the key.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from hearth.gatewayapi.errors import ReadbackError, UnexpectedAnswerError
from hearth.gatewayapi.management_api import ManagementApi
from hearth.gatewayapi.records import Budget, Key, KeyPage, ModelList, Team, WantedBudget, WantedKey, WantedTeam
from hearth.kubeapi.errors import NotOursError

PAGE_SIZE: Final = 100
"""Keys of one page of `/key/list`; LiteLLM allows no more."""
MOST_PAGES: Final = 1_000
"""Pages that are read at most; more is an answer that makes no sense."""

_Shape = TypeVar("_Shape")


class GatewayClient:
    """LiteLLM's management API, as far as Hearth uses it."""

    def __init__(self, api: ManagementApi) -> None:
        """Use an open connection.

        Args:
            api: the connection; who opened it closes it.
        """
        self._api = api

    def alive(self) -> None:
        """Ask whether LiteLLM's process answers.

        Raises:
            GatewayUnavailableError: it does not.
        """
        self._api.call("ask whether the gateway is alive", "GET", "/health/liveliness", repeatable=True)

    def models(self) -> tuple[str, ...]:
        """Return the public names of all models that the gateway has, sorted."""
        what = "list the models"
        return self._read(what, ModelList, self._api.call(what, "GET", "/v1/models", repeatable=True)).names

    # Teams

    def team(self, team_id: str) -> Team | None:
        """Return a team, or none when there is none of that id."""
        what = f"look up the team {team_id}"
        answer = self._api.call(what, "GET", "/team/info", query={"team_id": team_id}, repeatable=True, absent=(404,))
        return None if answer is None else self._read(what, Team, self._inner(what, answer, "team_info"))

    def create_team(self, wanted: WantedTeam) -> Team:
        """Make a team.

        Raises:
            GatewayRefusedError: the id is taken, or a value is refused.
            ReadbackError: what is there afterwards is not what was wanted.
        """
        what = f"create the team {wanted.team_id}"
        body = {key: value for key, value in wanted.body().items() if value is not None}
        self._api.call(what, "POST", "/team/new", body=body, repeatable=False)
        return self._same_team(what, wanted)

    def update_team(self, wanted: WantedTeam) -> Team:
        """Give a team these values; limits that are not wanted are cleared.

        Raises:
            GatewayRefusedError: there is no such team, or a value is refused.
            ReadbackError: what is there afterwards is not what was wanted.
        """
        what = f"update the team {wanted.team_id}"
        self._api.call(what, "POST", "/team/update", body=wanted.body(), repeatable=True)
        return self._same_team(what, wanted)

    def delete_team(self, team_id: str) -> None:
        """Delete a team. LiteLLM deletes the keys of a team with it, so this refuses while there are any.

        A team that is gone already is no error.

        Raises:
            NotOursError: it still has keys.
            ReadbackError: it is still there afterwards.
        """
        what = f"delete the team {team_id}"
        left = self.keys_of_team(team_id)
        if left:
            names = ", ".join(sorted(key.key_alias or f"{key.token[:10]}…" for key in left))
            raise NotOursError(
                f"could not {what}: it has keys that Hearth did not make or has not removed yet ({names}), and LiteLLM "
                "would delete them with it. Delete them at the gateway, or move them to another team, and try again."
            )
        self._api.call(what, "POST", "/team/delete", body={"team_ids": [team_id]}, repeatable=True, absent=(404,))
        if self.team(team_id) is not None:
            raise ReadbackError(f"could not {what}: the gateway accepted the deletion and still has the team")

    # Keys

    def key_by_token(self, token: str) -> Key | None:
        """Return the key with this SHA-256, or none."""
        return self._one_key("key_hash", token, f"look up the key {token[:10]}…")

    def key_by_alias(self, alias: str) -> Key | None:
        """Return the key of this alias, or none."""
        return self._one_key("key_alias", alias, f"look up the key {alias}")

    def keys_of_team(self, team_id: str) -> tuple[Key, ...]:
        """Return every key of a team."""
        return self._keys(f"list the keys of the team {team_id}", {"team_id": team_id})

    def register_key(self, wanted: WantedKey) -> Key:
        """Register a key by its value. It is the only call that carries one.

        Raises:
            GatewayRefusedError: the alias is taken, or a value is refused.
            ReadbackError: what is there afterwards is not what was wanted.
        """
        what = f"register the key {wanted.alias}"
        settings = {name: value for name, value in wanted.settings().items() if value is not None}
        body = {"key": wanted.value, "key_alias": wanted.alias, "team_id": wanted.team_id, **settings}
        self._api.call(what, "POST", "/key/generate", body=body, repeatable=False, secret=wanted.value)
        return self._same_key(what, wanted)

    def update_key(self, wanted: WantedKey) -> Key:
        """Give a registered key these models, routes, limits and this mark.

        Raises:
            GatewayRefusedError: there is no such key, or a value is refused.
            ReadbackError: what is there afterwards is not what was wanted.
        """
        what = f"update the key {wanted.alias}"
        body = {"key": wanted.token, **wanted.settings()}
        self._api.call(what, "POST", "/key/update", body=body, repeatable=True)
        return self._same_key(what, wanted)

    def unblock_key(self, token: str) -> None:
        """Let a blocked key be used again."""
        self._blocked(token, "unblock", blocked=False)

    def block_key(self, token: str) -> None:
        """Refuse a key on every replica at once. A key that is gone already is no error.

        Raises:
            ReadbackError: it is not blocked afterwards.
        """
        self._blocked(token, "block", blocked=True)

    def expire_key(self, token: str, seconds: int) -> None:
        """Refuse a key from some time on. A key that is gone already is no error.

        Args:
            token: its SHA-256.
            seconds: how long it stays usable, 1 or more.

        Raises:
            ReadbackError: it has no end afterwards.
        """
        what = f"set the end of the key {token[:10]}…"
        body = {"key": token, "duration": f"{seconds}s"}
        answer = self._api.call(what, "POST", "/key/update", body=body, repeatable=True, absent=(404,))
        key = None if answer is None else self.key_by_token(token)
        if key is not None and key.expires is None:
            raise ReadbackError(f"could not {what}: the gateway accepted it, and says that the key has no end")

    def delete_key(self, token: str) -> None:
        """Delete a key. Block it first: a deletion alone leaves it usable on the other replicas for a while.

        A key that is gone already is no error.

        Raises:
            ReadbackError: it is still listed afterwards.
        """
        what = f"delete the key {token[:10]}…"
        self._api.call(what, "POST", "/key/delete", body={"keys": [token]}, repeatable=True, absent=(404,))
        if self.key_by_token(token) is not None:
            raise ReadbackError(f"could not {what}: the gateway accepted the deletion and still lists the key")

    # Budgets

    def budget(self, budget_id: str) -> Budget | None:
        """Return a budget, or none when there is none of that id."""
        what = f"look up the budget {budget_id}"
        answer = self._api.call(what, "POST", "/budget/info", body={"budgets": [budget_id]}, repeatable=True)
        found = self._read(what, list[Budget], answer)
        return next((budget for budget in found if budget.budget_id == budget_id), None)

    def create_budget(self, wanted: WantedBudget) -> Budget:
        """Make a budget.

        Raises:
            GatewayRefusedError: the id is taken, or a value is refused.
            ReadbackError: what is there afterwards is not what was wanted.
        """
        what = f"create the budget {wanted.budget_id}"
        self._api.call(what, "POST", "/budget/new", body=wanted.body(), repeatable=False)
        return self._same_budget(what, wanted)

    def update_budget(self, wanted: WantedBudget) -> Budget:
        """Give a budget these values.

        Raises:
            GatewayRefusedError: a value is refused.
            ReadbackError: there is no such budget, or it has other values afterwards.
        """
        what = f"update the budget {wanted.budget_id}"
        self._api.call(what, "POST", "/budget/update", body=wanted.body(), repeatable=True)
        return self._same_budget(what, wanted)

    def delete_budget(self, budget_id: str) -> None:
        """Delete a budget. One that is gone already is no error.

        Raises:
            ReadbackError: it is still there afterwards.
        """
        what = f"delete the budget {budget_id}"
        self._api.call(what, "POST", "/budget/delete", body={"id": budget_id}, repeatable=True)
        if self.budget(budget_id) is not None:
            raise ReadbackError(f"could not {what}: the gateway accepted the deletion and still has the budget")

    # What they have in common

    def _blocked(self, token: str, verb: str, *, blocked: bool) -> None:
        what = f"{verb} the key {token[:10]}…"
        answer = self._api.call(what, "POST", f"/key/{verb}", body={"key": token}, repeatable=True, absent=(404,))
        if answer is None:
            return
        key = self.key_by_token(token)
        if key is not None and bool(key.blocked) != blocked:
            raise ReadbackError(f"could not {what}: the gateway accepted it, and says that it did not happen")

    def _one_key(self, field: str, value: str, what: str) -> Key | None:
        found = self._keys(what, {field: value})
        if len(found) > 1:
            raise UnexpectedAnswerError(f"could not {what}: the gateway lists {len(found)} keys for it")
        return found[0] if found else None

    def _keys(self, what: str, query: Mapping[str, str]) -> tuple[Key, ...]:
        found: dict[str, Key] = {}
        for number in range(1, MOST_PAGES + 1):
            fixed = {"return_full_object": "true", "size": str(PAGE_SIZE), "page": str(number)}
            answer = self._api.call(what, "GET", "/key/list", query={**query, **fixed}, repeatable=True)
            page = self._read(what, KeyPage, answer)
            found.update((key.token, key) for key in page.keys)
            if number >= page.total_pages:
                return tuple(found.values())
        raise UnexpectedAnswerError(f"could not {what}: the gateway has more than {MOST_PAGES} pages of keys")

    def _same_team(self, what: str, wanted: WantedTeam) -> Team:
        there = self.team(wanted.team_id)
        body = wanted.body()
        return self._same(what, there, {} if there is None else there.differences(body))

    def _same_key(self, what: str, wanted: WantedKey) -> Key:
        there = self.key_by_token(wanted.token)
        expected: dict[str, Any] = {"key_alias": wanted.alias, "team_id": wanted.team_id, **wanted.settings()}
        return self._same(what, there, {} if there is None else there.differences(expected))

    def _same_budget(self, what: str, wanted: WantedBudget) -> Budget:
        there = self.budget(wanted.budget_id)
        return self._same(what, there, {} if there is None else there.differences(wanted.body()))

    @staticmethod
    def _same(what: str, there: _Shape | None, differences: Mapping[str, tuple[Any, Any]]) -> _Shape:
        if there is None:
            raise ReadbackError(f"could not {what}: the gateway accepted it, and does not have it")
        if differences:
            text = "; ".join(f"{name} is {has!r} and not {wanted!r}" for name, (wanted, has) in differences.items())
            raise ReadbackError(f"could not {what}: the gateway accepted it, and says otherwise: {text}")
        return there

    @staticmethod
    def _inner(what: str, answer: Any, key: str) -> Any:
        if not isinstance(answer, dict) or key not in answer:
            raise UnexpectedAnswerError(f"could not {what}: the answer has no {key}; {_PINNED}")
        return answer[key]

    @staticmethod
    def _read(what: str, shape: type[_Shape], answer: Any) -> _Shape:
        try:
            return TypeAdapter(shape).validate_python(answer)
        except ValidationError as error:
            fields = ", ".join(sorted({".".join(map(str, entry["loc"])) or "the whole" for entry in error.errors()}))
            raise UnexpectedAnswerError(
                f"could not {what}: the answer has another shape ({fields}); {_PINNED}"
            ) from None


_PINNED: Final = "the gateway is of a version that this Hearth does not know"
