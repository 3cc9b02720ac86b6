#!/bin/sh
# proxy.sh - relaying compared in one run: straight to the upstream, through nginx, through our server.
#
# proxy.sh BUILD [COMMAND…]: COMMAND starts the server on a free port; $UPSTREAM in it is the fake
# model's URL; its first line must be "listening on http://HOST:PORT". Default: the bare relay.
# ROUNDS (9), SECONDS_EACH (1), AT_ONCE (32), STREAMS (1000), CHUNKS (100), INTERVAL_MS (10)
# may be set in the environment. Rounds alternate, so that a slow spell of the machine hits all.
set -eu
build=$1
shift
tools=$build/tests/bench
. "$(dirname "$0")/lib.sh"

start upstream "$tools/bench_upstream" 0 "${INTERVAL_MS:=10}"
direct=$port
export UPSTREAM="http://127.0.0.1:$direct"
if [ $# -gt 0 ]; then
  start server sh -c "exec $*"
else
  start server "$tools/bench_relay" "$UPSTREAM"
fi
ours=$port
server_pid=$pid

nginx_port=$((20000 + $$ % 20000))
cat >"$work/nginx.conf" <<CONF
worker_processes 2;
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path $work/body;
  proxy_temp_path $work/proxy;
  fastcgi_temp_path $work/fastcgi;
  scgi_temp_path $work/scgi;
  uwsgi_temp_path $work/uwsgi;
  upstream model { server 127.0.0.1:$direct; keepalive 256; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:$nginx_port backlog=1024;
    keepalive_requests 1000000;
    location / {
      proxy_pass http://model;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
CONF
nginx=$(command -v nginx || echo /usr/sbin/nginx)
"$nginx" -p "$work" -c "$work/nginx.conf" -e "$work/nginx.log" 2>"$work/nginx.err" &
nginx_pid=$!
pids="$pids $nginx_pid"
for _ in $(seq 100); do
  [ -s "$work/nginx.pid" ] && break
  sleep 0.05
done

# Processor time of a process and its children so far, in clock ticks.
ticks() { cat /proc/"$1"/stat $(sed 's|\([0-9]*\) *|/proc/\1/stat |g' /proc/"$1"/task/"$1"/children) |
  awk '{n += $14 + $15} END {print n}'; }

# measure KIND WAY PORT PID ARGUMENTS…: one line "KIND WAY key=value…" into the results.
measure() {
  kind=$1 way=$2 at=$3 of=$4
  shift 4
  before=$(ticks "$of")
  line=$("$tools/bench_load" "$at" "$@") || true
  after=$(ticks "$of")
  echo "$kind $way $line ticks=$((after - before))" >>"$work/results"
}
round() {
  kind=$1
  shift
  measure "$kind" direct "$direct" $$ "$@"
  measure "$kind" nginx "$nginx_port" "$nginx_pid" "$@"
  measure "$kind" ours "$ours" "$server_pid" "$@"
}
for _ in $(seq "${ROUNDS:=9}"); do
  round chats chats "${AT_ONCE:=32}" "${SECONDS_EACH:=1}"
  round one chats 1 1
  round token streams 200 5 10
done

idle=$(rss "$server_pid")
measure streams direct "$direct" $$ streams "${STREAMS:=1000}" "${CHUNKS:=100}"
measure streams nginx "$nginx_port" "$nginx_pid" streams "$STREAMS" "$CHUNKS"
"$tools/bench_load" "$ours" streams "$STREAMS" "$CHUNKS" >"$work/streams" &
load=$!
most=$idle
while kill -0 $load 2>/dev/null; do
  now=$(rss "$server_pid")
  [ "$now" -gt "$most" ] && most=$now
  sleep 0.05
done
echo "streams ours $(cat "$work/streams") ticks=0" >>"$work/results"

awk '
function median(key,  list, n, i, j, t) {
  n = split(values[key], list, " ")
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && list[j] + 0 < list[j - 1] + 0; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
  return list[int((n + 1) / 2)]
}
{ for (i = 3; i <= NF; i++) { split($i, kv, "="); values[$1 SUBSEP $2 SUBSEP kv[1]] = values[$1 SUBSEP $2 SUBSEP kv[1]] " " kv[2] } }
END {
  printf "%-10s %-7s %10s %7s %9s %9s %9s %9s %12s\n", "kind", "way", "completed", "broken", "per s", "p50 us", "first50", "first99", "cpu us each"
  split("chats one token streams", kinds, " "); split("direct nginx ours", ways, " ")
  for (k = 1; k <= 4; k++) for (w = 1; w <= 3; w++) {
    b = kinds[k] SUBSEP ways[w] SUBSEP
    done = median(b "completed")
    printf "%-10s %-7s %10d %7d %9d %9d %9d %9d %12s\n", kinds[k], ways[w], done, median(b "broken"), median(b "rps"),
      median(b "p50_us"), median(b "first50_us"), median(b "first99_us"), ways[w] == "direct" || !median(b "ticks") ? "-" : sprintf("%.1f", median(b "ticks") * 10000 / done)
  }
  printf "\nrequests per second against nginx: %.0f %%\n", 100 * median("chats" SUBSEP "ours" SUBSEP "rps") / median("chats" SUBSEP "nginx" SUBSEP "rps")
  d = median("token" SUBSEP "direct" SUBSEP "first50_us")
  printf "added time to first token against nginx: %.2f times (10 streams at a time), ",
    (median("token" SUBSEP "ours" SUBSEP "first50_us") - d) / (median("token" SUBSEP "nginx" SUBSEP "first50_us") - d)
  d = median("one" SUBSEP "direct" SUBSEP "first50_us")
  printf "%.2f times (one chat at a time)\n",
    (median("one" SUBSEP "ours" SUBSEP "first50_us") - d) / (median("one" SUBSEP "nginx" SUBSEP "first50_us") - d)
}' "$work/results"
echo "memory: idle $idle KiB, with $STREAMS streams $most KiB: $(((most - idle) / STREAMS)) KiB each"
