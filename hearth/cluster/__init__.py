"""Pulumi components: each puts compiled manifests where they belong and decides nothing."""
