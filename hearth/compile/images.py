"""Container images: which one a claim runs, and how a program is started in it.

There are two builds of everything: the images that `make images` builds where there is no registry
(`policy.images: localBuild`), and the published ones, by digest (`pinned`). They differ in users, paths and
flags; all of that is data here, and no manifest asks which build it got.

The local images run in this project's own cluster tests. What is written here about the published ones was read
from their build files; no registry could be asked, so a first start of each is still to be seen.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

from hearth.claim.policy import Policy
from hearth.claim.problems import ClaimError, Problem
from hearth.versions import versions

ImageName = Literal["litellm", "postgres", "valkey", "haproxy", "llamacpp", "ollama", "vllm", "python", "serve"]
"""A program that Hearth runs in a container."""


@dataclass(frozen=True)
class ImageProfile:
    """One image and what has to be known to run it with any user and a read-only root."""

    reference: str
    """What the container runtime pulls: `name:tag@sha256:…`, or `localhost/…:tag` of the local build."""
    user: int
    """User id that its files are made for."""
    group: int
    """Group id that its files are made for."""
    command: tuple[str, ...]
    """Arguments that start the program, without options. Stands in for the image's entry point, so that no
    start script of an image decides anything."""
    options: tuple[str, ...] = ()
    """Options that this build of the program needs and the other does not know."""
    python: str = ""
    """The Python that the program runs on, where it is one of Python and something else is run with its packages."""


_VERSIONS: Final = versions()

POSTGRES_BINARIES: Final = f"/usr/lib/postgresql/{_VERSIONS['POSTGRES_MAJOR']}/bin"
"""Folder of PostgreSQL's programs, the same in both builds."""


def _serve(reference: str) -> ImageProfile:
    return ImageProfile(reference, 10006, 10006, ("/opt/hearth/bin/hearth",), python="/usr/bin/python3")


_LOCAL: Final[dict[ImageName, ImageProfile]] = {
    "litellm": ImageProfile(
        _VERSIONS["IMAGE_LITELLM"], 10001, 10001, ("/opt/litellm/bin/litellm",), python="/usr/bin/python3"
    ),
    "postgres": ImageProfile(_VERSIONS["IMAGE_POSTGRES"], 10002, 10002, (f"{POSTGRES_BINARIES}/postgres",)),
    "valkey": ImageProfile(_VERSIONS["IMAGE_VALKEY"], 10003, 10003, ("/usr/bin/valkey-server",)),
    "haproxy": ImageProfile(_VERSIONS["IMAGE_HAPROXY"], 10004, 10004, ("/usr/sbin/haproxy",)),
    "llamacpp": ImageProfile(_VERSIONS["IMAGE_LLAMACPP"], 10005, 10005, ("/usr/bin/python3", "/opt/llama/server.py")),
    "python": ImageProfile(_VERSIONS["IMAGE_CLIENT"], 20001, 20001, ("/usr/bin/python3",)),
    "serve": _serve(_VERSIONS["IMAGE_SERVE"]),
}
"""The images of `images/`; their users are the numbers of images/roots.sh."""

_PUBLISHED: Final[dict[ImageName, ImageProfile]] = {
    # The variant that is made for user 65534: there its Prisma engine can be read, so a read-only root works.
    "litellm": ImageProfile(
        _VERSIONS["PINNED_LITELLM"], 65534, 65534, ("/app/.venv/bin/litellm",), python="/app/.venv/bin/python"
    ),
    "postgres": ImageProfile(_VERSIONS["PINNED_POSTGRES"], 999, 999, (f"{POSTGRES_BINARIES}/postgres",)),
    "valkey": ImageProfile(_VERSIONS["PINNED_VALKEY"], 999, 1000, ("/usr/local/bin/valkey-server",)),
    "haproxy": ImageProfile(_VERSIONS["PINNED_HAPROXY"], 99, 99, ("/usr/local/sbin/haproxy",)),
    "llamacpp": ImageProfile(
        _VERSIONS["PINNED_LLAMACPP"],
        # Its own user is root. Nothing in the image has to be written, so any other number does.
        65532,
        65532,
        ("/app/llama-server",),
        # The web interface and the contents of the slots are no part of an endpoint. The prompt cache takes
        # 8 GiB unless told otherwise, which is more than a small model's whole memory limit.
        options=("--offline", "--no-webui", "--no-slots", "--cache-ram", "0"),
    ),
    "ollama": ImageProfile(_VERSIONS["PINNED_OLLAMA"], 65532, 65532, ("/bin/ollama",)),
    # Its own user is root; every folder that it writes to is named in its environment.
    "vllm": ImageProfile(_VERSIONS["PINNED_VLLM"], 65532, 65532, ("vllm", "serve")),
    "python": ImageProfile(_VERSIONS["PINNED_PYTHON"], 65532, 65532, ("/usr/local/bin/python3",)),
}
"""The published images."""


def image(policy: Policy, name: ImageName) -> ImageProfile:
    """Return the image of a program, of the build and from the registry that the environment asks for.

    Args:
        policy: the policy of the environment.
        name: the program.

    Raises:
        ClaimError: that build has no such image.
    """
    local = policy.images == "localBuild"
    if name == "serve" and not local:
        if policy.serve_image is None:
            raise ClaimError(
                [
                    Problem(
                        "hearth:policy.serveImage",
                        "is missing, and a process of Hearth's own is to run in the cluster",
                        "Build and push it (images/README.md), and write down its digest",
                    )
                ]
            )
        return _serve(policy.serve_image)
    profile = (_LOCAL if local else _PUBLISHED).get(name)
    if profile is None:
        built, other = ("local build", "pinned") if local else ("published set", "localBuild")
        raise ClaimError(
            [Problem("hearth:policy.images", f"the {built} has no image of {name}", f"Use {other}, or another engine")]
        )
    mirror = None if local else policy.registry.mirror
    return replace(profile, reference=f"{mirror}/{profile.reference}") if mirror else profile
