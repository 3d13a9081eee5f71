"""Claim in, artefacts out: pure functions without clock, network or randomness."""
