"""What the Pulumi resources at the gateway have in common."""

from contextlib import AbstractContextManager
from typing import Final

from hearth.gatewayapi import connect
from hearth.gatewayapi.client import GatewayClient
from hearth.kubeapi.provider import ClusterProvider, Props

FORMER: Final = "former"
"""Input of a resource: what its environment was called before."""


class GatewayProvider(ClusterProvider):
    """Base of the providers that call the gateway's management API."""

    def gateway(self, props: Props) -> AbstractContextManager[GatewayClient]:
        """Open the gateway's management API.

        Args:
            props: inputs or outputs of the resource.

        Raises:
            ClusterError: the cluster cannot be used.
            GatewayUnavailableError: no Pod of the gateway is Ready.
        """
        return connect.gateway(self.kubernetes(props))

    def is_ready(self, props: Props) -> bool:
        """Return whether a Pod of the gateway is Ready now, so that nobody would have to wait for it.

        Raises:
            ClusterError: the cluster cannot be used.
        """
        return bool(connect.ready_pods(self.kubernetes(props)))
