"""LiteLLM's management API: a typed client and the Pulumi resources built on it."""
