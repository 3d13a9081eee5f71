# listening PORT...: the addresses that something listens at on these ports. Reads only.
for port in "$@"; do ss -Hltn "sport = :$port" | awk '{print $4}'; done
