# Standard input: trust bundle, a line "===", certificate chain. Succeeds when the first certificate verifies.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
awk -v folder="$folder" '/^===$/ {second = 1; next} {print > (folder (second ? "/chain" : "/bundle"))}'
openssl verify -purpose sslserver -CAfile "$folder/bundle" -no-CApath -no-CAstore -untrusted "$folder/chain" "$folder/chain" >&2
