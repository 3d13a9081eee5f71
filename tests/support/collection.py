"""Plugins and modules of the collection hearth.edge, by the names that they have in it."""

import importlib
import sys
from pathlib import Path
from typing import Any

COLLECTIONS = Path(__file__).parents[2] / "collections"


def plugin(name: str) -> Any:
    """Return a module below plugins/, such as `modules.host_state`."""
    if str(COLLECTIONS) not in sys.path:
        sys.path.append(str(COLLECTIONS))
    return importlib.import_module(f"ansible_collections.hearth.edge.plugins.{name}")
