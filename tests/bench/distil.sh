#!/bin/sh
# distil.sh - how fast sessions are distilled by a model that answers at once, and what chats notice of it.
#
# distil.sh BUILD: SESSIONS (10000) of three turns wait; first alone, then beside chats, AT_ONCE (2) at a time.
set -eu
build=$1
. "$(dirname "$0")/lib.sh"
tools=$build/tests/bench
: "${SESSIONS:=10000}" "${AT_ONCE:=2}" "${SECONDS_EACH:=10}"
questions 1000 >"$work/questions"
export QUESTIONS="$work/questions"
mkdir "$work/alone" "$work/beside"
"$tools/bench_distil" fill "$work/alone" "$SESSIONS"
"$tools/bench_distil" fill "$work/beside" "$SESSIONS"
start upstream "$tools/bench_upstream" 0 10
upstream=http://127.0.0.1:$port
serve() { # NAME FOLDER FLAGS…
  serving=$1 folder=$2
  shift 2
  start "$serving" "$build/rememberd" serve --listen 127.0.0.1:0 --data "$work/$folder" --upstream "$upstream" \
    --core-tokens-per-hour 0 "$@"
}

serve alone alone --core-model bench
echo "alone: $("$tools/bench_distil" wait "$work/alone" "$SESSIONS"), resident $(rss "$pid") KiB"
stop "$pid"

serve without beside
echo "chats while $SESSIONS sessions wait without a core model: $("$tools/bench_load" "$port" chats "$AT_ONCE" "$SECONDS_EACH")"
stop "$pid"
serve beside beside --core-model bench
"$tools/bench_distil" wait "$work/beside" "$SESSIONS" >"$work/waited" &
waiter=$!
pids="$pids $waiter"
echo "chats while they are distilled: $("$tools/bench_load" "$port" chats "$AT_ONCE" "$SECONDS_EACH")"
wait "$waiter"
echo "beside chats: $(cat "$work/waited")"
echo "chats afterwards: $("$tools/bench_load" "$port" chats "$AT_ONCE" "$SECONDS_EACH")"
stop "$pid"
