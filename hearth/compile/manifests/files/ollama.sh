# Gives Ollama one model before it serves: imports $MODEL_FILE as $MODEL_NAME, or pulls $MODEL_NAME and checks its
# manifest's digest.
set -eu
ollama serve >/tmp/ollama.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
tries=0
until ollama list >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 60 ] || ! kill -0 "$server" 2>/dev/null; then
    cat /tmp/ollama.log >&2
    echo "model: Ollama does not start" >&2
    exit 1
  fi
  sleep 1
done
if [ -n "${MODEL_FILE:-}" ]; then
  echo "FROM $MODEL_FILE" >/tmp/Modelfile
  ollama create "$MODEL_NAME" --file /tmp/Modelfile
else
  ollama pull "$MODEL_NAME"
  if ! echo "$SHA256  $OLLAMA_MODELS/manifests/$MANIFEST" | sha256sum --check --status -; then
    ollama rm "$MODEL_NAME"
    echo "model: the manifest of $MODEL_NAME does not have the declared SHA-256 $SHA256; it was deleted" >&2
    exit 1
  fi
fi
