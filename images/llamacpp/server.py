"""Start llama.cpp's HTTP server (the OpenAI API, /health, /metrics) from the xllamacpp wheel.

The key comes from a file or from the environment variable LLAMA_API_KEY, never from the arguments, which every
process on the machine can read. SIGTERM and SIGINT stop the server.
"""

import argparse
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Mapping, Sequence

import xllamacpp

KEY_VARIABLE = "LLAMA_API_KEY"


def parser() -> argparse.ArgumentParser:
    """The options; names are those of llama.cpp's own `llama-server`."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", required=True, type=pathlib.Path, help="GGUF file")
    options.add_argument("--alias", help="name of the model in /v1/models (default: the file's)")
    options.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    options.add_argument("--port", type=int, default=8080, help="port to listen on (default: %(default)s)")
    options.add_argument(
        "--api-key-file", type=pathlib.Path, help=f"file with one key a line (else ${KEY_VARIABLE}, else no key)"
    )
    options.add_argument("--parallel", type=int, default=2, help="requests answered at once (default: %(default)s)")
    options.add_argument(
        "--ctx-size", type=int, default=4096, help="context in tokens, shared by those (default: %(default)s)"
    )
    options.add_argument("--threads", type=int, default=1, help="processor threads (default: %(default)s)")
    options.add_argument(
        "--chat-template", help="llama.cpp's name of a template, for a model file without its own (for example gemma)"
    )
    options.add_argument(
        "--no-jinja", action="store_true", help="read --chat-template as a name, which is always so here"
    )
    options.add_argument("--batch-size", type=int, help="tokens of one batch (default: the library's)")
    options.add_argument("--ubatch-size", type=int, help="tokens computed at once (default: the library's)")
    options.add_argument("--pooling", choices=["mean", "cls", "last"], help="how an input becomes one vector")
    options.add_argument("--metrics", action="store_true", help="serve /metrics")
    options.add_argument("--embedding", action="store_true", help="serve embeddings only")
    return options


def read_keys(file: pathlib.Path | None, environment: Mapping[str, str]) -> list[str]:
    """The keys that the server accepts; an empty list is a server without a key.

    Exits with a message if a file was named that cannot be read or holds no key: an open server is never an accident.
    """
    if file is None:
        return [key] if (key := environment.get(KEY_VARIABLE, "").strip()) else []
    try:
        keys = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as error:
        sys.exit(f"--api-key-file {file}: {error.strerror}")
    return keys or sys.exit(f"--api-key-file {file}: no key in it")


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until told to stop."""
    options = parser().parse_args(arguments)
    if not options.model.is_file():
        sys.exit(f"--model {options.model}: no such file")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(options.model)
    parameters.hostnames = [options.host]
    parameters.port = options.port
    parameters.n_parallel = options.parallel
    parameters.n_ctx = options.ctx_size
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    if options.alias:
        parameters.model_alias = {options.alias}
    if options.chat_template:
        parameters.chat_template = options.chat_template
        parameters.use_jinja = False  # with it, the name itself would be read as a template
    if options.batch_size:
        parameters.n_batch = options.batch_size
    if options.ubatch_size:
        parameters.n_ubatch = options.ubatch_size
    if options.pooling:
        parameters.pooling_type = getattr(xllamacpp.llama_pooling_type, f"LLAMA_POOLING_TYPE_{options.pooling.upper()}")
    parameters.api_keys = read_keys(options.api_key_file, os.environ)
    parameters.endpoint_metrics = options.metrics
    parameters.embedding = options.embedding

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = xllamacpp.Server(parameters)
    print(f"listening on {server.listening_address}", flush=True)
    stop.wait()
    del server  # ends its threads


if __name__ == "__main__":
    main()
