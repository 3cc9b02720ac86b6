#!/usr/bin/env bash
# image.sh - an OCI image as others read it: image.sh FILE. skopeo copies it, which checks each digest; umoci unpacks it; its own
# configuration says what is run, as which user and with which variables. A chat is remembered. Needs root, skopeo and umoci.
set -euo pipefail
file=$(realpath "$1") work=$(mktemp -d) began=$SECONDS
server=
leave() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"; }
trap leave EXIT
die() { echo "image: $*" >&2; cat "$work/out" >&2 2>/dev/null || true; exit 1; }
[ "$(stat -c %s "$file")" -le 20000000 ] || die "it has more than 20 MB"
skopeo copy --quiet "oci-archive:$file" "oci:$work/layout:it"
umoci unpack --image "$work/layout:it" "$work/bundle" >/dev/null 2>&1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mapfile -t run < <(python3 - "$work/bundle/config.json" <<'PY'
import json, sys
p = json.load(open(sys.argv[1]))["process"]
print(p["user"]["uid"], p["user"]["gid"], *p["env"], "--", *p["args"], sep="\n")
PY
)
user=${run[0]} group=${run[1]} root=$work/bundle/rootfs
environment=("${run[@]:2}")
command=("${environment[@]}")
while [ "${command[0]}" != -- ]; do command=("${command[@]:1}"); done
environment=("${environment[@]:0:${#environment[@]}-${#command[@]}}") command=("${command[@]:1}")
inside() { env -i "${environment[@]}" "$(command -v chroot)" --userspec="$user:$group" "$root" "$@"; }
chmod 755 "$work" "$work/bundle"

inside "${command[0]}" token create --admin >"$work/token"
token=$(grep -oE '[A-Za-z0-9_-]{32,}' "$work/token" | head -n 1)
inside "${command[@]}" --listen "127.0.0.1:$port" >"$work/out" 2>&1 &
server=$!
until grep -q '^listening on' "$work/out"; do kill -0 $server 2>/dev/null || die "it ended before it listened"; sleep 0.05; done
ask() {
  curl -sf --max-time 20 "http://127.0.0.1:$port/v1/chat/completions" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d "{\"model\":\"rememberd/demo\",\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}"
}
ask "My dog is called Rex and I live in Lisbon." >/dev/null || die "no answer"
ask "What is my dog called?" | grep -q Rex || die "the chat was not remembered"
[ -e "$root/data/rememberd.db" ] || die "the memories are not in /data"
printf '%s: %d bytes, works as user %s, %d s\n1 passed, 0 failed\n' "${file##*/}" "$(stat -c %s "$file")" "$user" $((SECONDS - began))
