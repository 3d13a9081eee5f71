"""The Pulumi program: load the claim, hand it to the platform; nothing else."""

from hearth.cluster.program import run

run()
