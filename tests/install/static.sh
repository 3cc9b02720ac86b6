#!/usr/bin/env bash
# static.sh - the static program where nothing else is: static.sh FILE [PREFIX…]. In an empty folder as its root and a network
# of its own it remembers a chat, shows the page, and calls a model server by a name that a DNS server knows. PREFIX is what
# runs the program of another machine, as qemu-aarch64-static. Needs root.
set -euo pipefail
file=$(realpath "$1"); shift
work=$(mktemp -d) began=$SECONDS
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/root/{etc,tmp,bin}
cp "$file" "$work/root/bin/rememberd"
for program; do cp "$(command -v "$program")" "$work/root/bin/"; done
echo 'nameserver 127.0.0.1' >"$work/root/etc/resolv.conf"

# A DNS server that knows one address for every name, and a model server.
cat >"$work/network.py" <<'PY'
import http.server, json, socket, struct, threading
dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
dns.bind(("127.0.0.1", 53))
def names():
    while True:
        asked, who = dns.recvfrom(512)
        end = asked.index(b"\0", 12) + 5
        is_v4 = asked[end - 4:end - 2] == b"\0\1"
        answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([127, 0, 0, 1]) if is_v4 else b""
        dns.sendto(asked[:2] + struct.pack(">HHHHH", 0x8180, 1, int(is_v4), 0, 0) + asked[12:end] + answer, who)
class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "from the model server"}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
    def log_message(self, *words):
        pass
threading.Thread(target=names, daemon=True).start()
http.server.HTTPServer(("127.0.0.1", 8080), Model).serve_forever()
PY

cat >"$work/try" <<'SH'
set -euo pipefail
work=$1; shift
die() { echo "static: $*" >&2; cat "$work/out" >&2; exit 1; }
ask() {
  curl -sf --max-time 60 http://127.0.0.1:7077/v1/chat/completions -H 'Content-Type: application/json' \
    -d "{\"model\":\"$1\",\"messages\":[{\"role\":\"user\",\"content\":\"$2\"}]}"
}
ip link set lo up
python3 "$work/network.py" &
until curl -so "$work/nothing" http://127.0.0.1:8080/; do sleep 0.05; done
began=$(date +%s%N)
touch "$work/out"
REMEMBERD_RECALL_DEADLINE_MS=10000 chroot "$work/root" ${@/#//bin/} /bin/rememberd serve --data /data --upstream http://model.test:8080/v1 >"$work/out" 2>&1 &
until grep -q '^listening on' "$work/out"; do kill -0 $! 2>/dev/null || die "it ended before it listened"; sleep 0.02; done
echo "listening after $((($(date +%s%N) - began) / 1000000)) ms"
ask rememberd/demo "My dog is called Rex and I live in Lisbon." >/dev/null || die "no answer"
ask rememberd/demo "What is my dog called?" | grep -q Rex || die "the chat was not remembered"
ask m "Hello" | grep -q 'from the model server' || die "the model server was not reached by its name"
curl -sf http://127.0.0.1:7077/ | grep -qi '<!doctype html' || die "no page"
kill %2
wait %2 || die "it ended with $?"
SH
unshare --net --pid --fork --kill-child --mount-proc bash "$work/try" "$work" "$@"
printf '%s: %d bytes, works where nothing else is, %d s\n1 passed, 0 failed\n' "${file##*/}" "$(stat -c %s "$file")" $((SECONDS - began))
