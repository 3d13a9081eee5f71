"""Run the program against Pulumi's mocks as often as it is asked to; `tests.support.program` starts it and asks.

Pulumi keeps its settings in globals, so that every run gets a process of its own: a fork of this one, which has run
nothing, and has imported everything, for that takes longer than a run. A question is a line of JSON: `stack`, `config`,
`secret`, `outputs`, `root`, `environment`, and `answer`, the file that the answer is to be written into.
"""

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import pulumi
from kubernetes.client.api import apps_v1_api, core_v1_api  # noqa: F401 - what a run would import by itself
from pulumi.runtime import mocks
from pulumi.runtime.config import set_all_config

from hearth.cluster.program import run

GIVEN: dict[str, Any] = {}
"""What is asked."""
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
        return f"urn:pulumi:{GIVEN['stack']}::hearth::{whole}::{name}"

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


def answer() -> dict[str, Any]:
    """Run the program, and return what it declared."""
    recorder = Recorder()
    mocks.set_mocks(recorder, project="hearth", stack=GIVEN["stack"], preview=False, monitor=Monitor(recorder))
    set_all_config(GIVEN["config"], GIVEN["secret"])
    pulumi.get_root_directory = lambda: GIVEN["root"]
    # There is no stack to export to.
    pulumi.export = lambda name, value: exported.update({name: value if isinstance(value, str | list) else None})
    pulumi.log.warn = lambda text, *_: warned.append(text)
    refused = None
    try:
        pulumi.runtime.test(run)()
    except pulumi.RunError as error:
        refused = str(error)
    return {
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


def main() -> None:
    """Answer each question in a fork, and say its exit code, until there are no more."""
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            status = 1
            try:
                GIVEN.update(json.loads(line))
                os.environ.update(GIVEN["environment"])
                Path(GIVEN["answer"]).write_text(json.dumps(answer(), default=str))
                status = 0
            except BaseException:
                Path(GIVEN["answer"]).write_text(traceback.format_exc())
            finally:
                # without what the parent has to do at its end
                os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
