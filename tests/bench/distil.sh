#!/bin/sh
# distil.sh - how fast sessions are distilled by a model that answers at once, and what chats notice of it.
#
# distil.sh BUILD [SESSIONS]: SESSIONS (10000) of three turns wait; they are distilled first alone, then beside chats, AT_ONCE
# (2) at a time without a pause. In turns of SECONDS_EACH (5) chats go to a server whose backlog is distilled and to one with
# the same backlog and no core model, until nothing waits; whoever is not measured is stopped meanwhile.
set -eu
build=$1
. "$(dirname "$0")/lib.sh"
tools=$build/tests/bench
SESSIONS=${2:-${SESSIONS:-10000}}
: "${AT_ONCE:=2}" "${SECONDS_EACH:=5}" "${ROUNDS:=40}"
questions 1000 >"$work/questions"
export QUESTIONS="$work/questions"
mkdir "$work/alone" "$work/beside" "$work/without"
for folder in alone beside without; do "$tools/bench_distil" fill "$work/$folder" "$SESSIONS"; done
start upstream "$tools/bench_upstream" 0 10
upstream=http://127.0.0.1:$port
serve() { # NAME FLAGS…
  serving=$1
  shift
  start "$serving" "$build/rememberd" serve --listen 127.0.0.1:0 --data "$work/$serving" --upstream "$upstream" \
    --core-tokens-per-hour 0 "$@"
}
left() { "$tools/bench_distil" left "$work/beside" "$SESSIONS"; }
chats() { "$tools/bench_load" "$1" chats "$AT_ONCE" "$SECONDS_EACH"; }
figure() { sed -n "s/.* $2=\([0-9]*\).*/\1/p" "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

if [ -z "${SKIP_ALONE:-}" ]; then
  serve alone --core-model bench ${SERVE_FLAGS:-}
  echo "alone: $("$tools/bench_distil" wait "$work/alone" "$SESSIONS"), resident $(rss "$pid") KiB"
  stop "$pid"
fi

serve without ${SERVE_FLAGS:-}
idle=$pid idle_port=$port
serve beside --core-model bench ${SERVE_FLAGS:-}
busy=$pid busy_port=$port done=0 took=0 waits=1 round=0
kill -STOP "$idle"
while [ "$waits" -gt 0 ] && [ "$round" -lt "$ROUNDS" ]; do
  round=$((round + 1))
  kill -CONT "$busy"
  before=$(left)
  chats "$busy_port" >>"$work/with"
  after=$(left)
  kill -STOP "$busy"
  waits=${after% *}
  # A round that ends without a backlog is none beside one.
  if [ "$waits" -gt 0 ] || [ "$round" -eq 1 ]; then
    done=$((done + ${before% *} - waits)) took=$((took + ${after#* } - ${before#* }))
  else
    sed -i '$d' "$work/with"
  fi
  kill -CONT "$idle"
  chats "$idle_port" >>"$work/without.chats"
  kill -STOP "$idle"
done
kill -CONT "$idle" "$busy"
for which in with without.chats; do
  echo "chats, ${which%.chats}: median of $(wc -l <"$work/$which") rounds p50_us=$(figure "$which" p50_us)" \
    "p99_us=$(figure "$which" p99_us) rps=$(figure "$which" rps); p99 of each:" \
    "$(sed 's/.* p99_us=\([0-9]*\).*/\1/' "$work/$which" | tr '\n' ' ')"
done
echo "beside chats: distilled=$done in ms=$took per_s=$((done * 1000 / (took + 1)))"
stop "$busy"
stop "$idle"
