# foreign: what an Ollama that somebody else installed has on the host, one path a line. Reads only.
for path in /etc/systemd/system/ollama.service /usr/lib/systemd/system/ollama.service /usr/local/bin/ollama /usr/bin/ollama; do
  [ ! -e "$path" ] || echo "$path"
done
