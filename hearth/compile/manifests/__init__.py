"""Kubernetes manifests of a claim: pure functions, one module for each thing that runs.

Every function returns plain dicts as Kubernetes spells them. `groups` orders them by what has to exist first.
"""
