"""The Kubernetes API as Hearth uses it: which cluster, typed calls, port-forward, rollouts. It knows no gateway."""
