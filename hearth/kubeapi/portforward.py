"""HTTP to a port of a Pod through the Kubernetes API, so that `pulumi up` needs no route to the gateway.

The port is reached on the Pod's own loopback. Nothing is opened on the operator's machine.
"""

import select
import ssl
from collections.abc import Callable, Iterable
from typing import Any, Final

import httpcore
import httpx

from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.errors import scrubbed

_READ_BYTES: Final = 65_536


class PodTransport(httpx.HTTPTransport):
    """An httpx transport whose every connection goes to one port of a Pod, whatever the URL's host is."""

    def __init__(self, kubernetes: KubernetesApi, namespace: str, choose: Callable[[], str], port: int) -> None:
        """Make no connection yet.

        Args:
            kubernetes: the cluster.
            namespace: namespace of the Pods.
            choose: names the Pod for each new connection, so that a call that is tried again need not go to a Pod
                that is gone.
            port: TCP port in the Pod; one that listens on the Pod's loopback is reached too.
        """
        super().__init__(trust_env=False)
        # httpx has no argument for this; a connection that failed is never taken up again, because each is a stream
        # of the Kubernetes API of its own.
        self._pool = httpcore.ConnectionPool(
            max_connections=2, keepalive_expiry=20.0, network_backend=_PodBackend(kubernetes, namespace, choose, port)
        )


class _PodBackend(httpcore.NetworkBackend):
    def __init__(self, kubernetes: KubernetesApi, namespace: str, choose: Callable[[], str], port: int) -> None:
        self._kubernetes, self._namespace, self._choose, self._port = kubernetes, namespace, choose, port

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the Pod is the only place that it leads to
        port: int,  # noqa: ARG002
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        from kubernetes.client.exceptions import ApiException
        from kubernetes.stream import portforward

        pod, api = self._choose(), self._kubernetes.new_core_api()
        try:
            forward = portforward(
                api.connect_get_namespaced_pod_portforward,
                pod,
                self._namespace,
                ports=str(self._port),
                _request_timeout=timeout,
            )
        except ApiException as error:
            raise httpcore.ConnectError(f"no port-forward to the Pod {pod}: {scrubbed(str(error.reason))}") from None
        return _PodStream(forward, pod, self._port)


class _PodStream(httpcore.NetworkStream):
    def __init__(self, forward: Any, pod: str, port: int) -> None:
        self._forward, self._pod, self._port = forward, pod, port
        self._socket = forward.socket(port)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._socket.settimeout(timeout)
        try:
            data: bytes = self._socket.recv(min(max_bytes, _READ_BYTES))
        except TimeoutError:
            raise httpcore.ReadTimeout(f"no answer within {timeout} s") from None
        except OSError as error:
            raise httpcore.ReadError(self._closed(str(error))) from None
        if not data and self._forward.error(self._port):
            raise httpcore.ReadError(self._closed("no reason given"))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._socket.settimeout(timeout)
        try:
            self._socket.sendall(buffer)
        except TimeoutError:
            raise httpcore.WriteTimeout(f"not sent within {timeout} s") from None
        except OSError as error:
            raise httpcore.WriteError(self._closed(str(error))) from None

    def _closed(self, otherwise: str) -> str:
        # The kubelet says here that nothing listens on the port.
        return f"the Pod {self._pod} closed the connection: {scrubbed(self._forward.error(self._port) or otherwise)}"

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,  # noqa: ARG002
        server_hostname: str | None = None,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        raise httpcore.UnsupportedProtocol("a port-forward is plain TCP to the Pod")

    def get_extra_info(self, info: str) -> Any:
        if info != "is_readable":
            return None
        # An idle connection that has something to read was closed by the other side.
        return self._socket.fileno() < 0 or bool(select.select([self._socket.fileno()], [], [], 0)[0])
