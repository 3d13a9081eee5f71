"""The evidence document: canonical form, signing, verification and the trust store."""
