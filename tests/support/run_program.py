"""Run the program against Pulumi's mocks, and print what it declared; `tests.support.program` starts it.

Pulumi keeps its settings in globals, so that every run gets a process of its own.
"""

import json
import sys
from typing import Any

import pulumi
from pulumi.runtime import mocks
from pulumi.runtime.config import set_all_config

STACK = sys.argv[1]
GIVEN: dict[str, Any] = json.load(sys.stdin)
inputs: list[tuple[str, str, dict[str, Any]]] = []
declared: list[dict[str, Any]] = []
former: dict[str, set[str]] = {}
exported: dict[str, Any] = {}
warned: list[str] = []
ignored: dict[str, list[str]] = {}
options: dict[str, dict[str, Any]] = {}


class Recorder(mocks.Mocks):
    """What every resource was given."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        outputs = dict(args.inputs)
        for name in ("value", "certificate", "private_key", "team_id", "alias"):
            if (name in outputs and outputs[name] is None) or args.typ.startswith("pulumi-python:"):
                outputs[name] = f"made-{args.name}-{name}"
        if args.typ == "kubernetes:core/v1:Service":
            outputs["spec"] = {**args.inputs["spec"], "clusterIP": f"address of {args.name.split('/')[1]}"}
        inputs.append((args.typ, args.name, args.inputs))
        return f"{args.name}-id", outputs

    def call(self, args: mocks.MockCallArgs) -> Any:
        return {"outputs": GIVEN["outputs"]}


class Monitor(mocks.MockMonitor):
    """The names of all resources, and those that they were known by before."""

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        # As the engine makes it: with the types of all parents but the stack.
        above = parent.split("::")[2] if parent else ""
        whole = type_ if above in ("", "pulumi:pulumi:Stack") else f"{above}${type_}"
        return f"urn:pulumi:{STACK}::hearth::{whole}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - Pulumi's name
        response = super().RegisterResource(request)
        parents = {request.parent, *former.get(request.parent, ())}
        known = {self.make_urn(parent, request.type, request.name) for parent in parents}
        for alias in request.aliases:
            if not alias.HasField("spec"):
                known.add(alias.urn)
                continue
            spec = alias.spec
            above = [spec.parentUrn] if spec.parentUrn else [""] if spec.noParent else parents
            known |= {self.make_urn(parent, spec.type or request.type, spec.name or request.name) for parent in above}
        former[response.urn] = known - {response.urn}
        ignored[f"{request.type.split(':')[-1]}|{request.name}"] = list(request.ignoreChanges)
        options[f"{request.type.split(':')[-1]}|{request.name}"] = {
            "protect": request.protect,
            "retain": request.retainOnDelete,
            "create": request.customTimeouts.create,
        }
        declared.append({"urn": response.urn, "former": sorted(former[response.urn])})
        return response


recorder = Recorder()
mocks.set_mocks(recorder, project="hearth", stack=STACK, preview=False, monitor=Monitor(recorder))
set_all_config(GIVEN["config"], GIVEN["secret"])
pulumi.get_root_directory = lambda: GIVEN["root"]
# There is no stack to export to.
pulumi.export = lambda name, value: exported.update({name: value if isinstance(value, str | list) else None})
pulumi.log.warn = lambda text, *_: warned.append(text)


@pulumi.runtime.test
def main() -> None:
    from hearth.cluster.program import run

    run()


refused = None
try:
    main()
except pulumi.RunError as error:
    refused = str(error)
result = {
    "resources": [[typ, name] for typ, name, _ in inputs],
    "inputs": {f"{typ}|{name}": given for typ, name, given in inputs},
    "declared": declared,
    "aliases": {
        urn.split("$")[-1].replace("::", "|", 1): sorted(old.split("::")[-1] for old in olds)
        for urn, olds in former.items()
    },
    "exported": exported,
    "warned": warned,
    "ignored": ignored,
    "options": options,
    **({} if refused is None else {"refused": refused}),
}
print(json.dumps(result, default=str))
