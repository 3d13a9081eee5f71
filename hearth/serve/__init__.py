"""The few processes of our own that run in a cluster."""
