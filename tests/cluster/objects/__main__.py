"""The smallest program of Hearth's: objects out of OBJECTS, declared as the platform declares its own."""

import json
import os

import pulumi

from hearth.cluster.manifest import deploy_all
from hearth.cluster.platform import cluster_provider
from hearth.compile.manifests.common import Object
from hearth.kubeapi.cluster import Cluster

top = pulumi.ComponentResource("hearth:index:Platform", "objects")
provider = cluster_provider(top, "objects", Cluster.named())
inside = pulumi.ComponentResource(
    "hearth:index:Cluster", "inside", {}, pulumi.ResourceOptions(parent=top, providers=[provider])
)
deploy_all([Object.named(manifest) for manifest in json.loads(os.environ["OBJECTS"])], parent=inside)
