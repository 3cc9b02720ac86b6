#!/usr/bin/env bash
# many.sh BUILD MEMORIES PEOPLE - the same memories of many people in SQLite and in PostgreSQL: bytes, recall, writes, memory.
# BACK=yes: moved back as well, and the exports of all people compared. 1.7 GB of disk for a million. A PostgreSQL of its own: POSTGRES_OPTIONS has its settings.
set -euo pipefail
build=$1 memories=$2 people=$3
if [ -z "${TEST_STORE:-}" ]; then
  export POSTGRES_FOLDER=${POSTGRES_FOLDER:-/tmp} POSTGRES_OPTIONS="-c fsync=on -c autovacuum=on -c checkpoint_timeout=5min -c shared_buffers=2GB -c max_wal_size=4GB ${POSTGRES_OPTIONS:-}"
  exec tests/lib/with_postgres "$0" "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
url="$TEST_STORE&schema=many"

each() { awk -v what="$1" -v bytes="$2" -v n="$memories" 'BEGIN { printf "%-34s %7.0f bytes a memory, %.1f MB\n", what, bytes / n, bytes / 1e6 }'; }

"$build/tests/bench/bench_many" fill "$work/rememberd.db" "$memories" "$people"
began=$(date +%s.%N)
"$build/rememberd" migrate --from "sqlite:$work" --to "$url" >/dev/null
awk -v began="$began" -v now="$(date +%s.%N)" 'BEGIN { printf "moved to PostgreSQL, compared and checked in %.0f s\n", now - began }'
if [ "${BACK:-}" = yes ]; then
  mkdir "$work/back"
  "$build/rememberd" migrate --from "$url" --to "sqlite:$work/back" >/dev/null
  for place in "$work/rememberd.db" "$url" "$work/back/rememberd.db"; do
    "$build/tests/bench/bench_many" export "$place" "$people"
  done | tee "$work/exports"
  [ "$(uniq "$work/exports" | wc -l)" -eq 1 ] || { echo "the exports differ"; exit 1; }
  rm -r "$work/back"
fi
psql -qXAt "$TEST_STORE" -c 'VACUUM ANALYZE' -c CHECKPOINT
each SQLite "$(stat -c %s "$work/rememberd.db")"
psql -qXAtF ' ' "$TEST_STORE" -c "SELECT CASE GROUPING(c.relname) WHEN 1 THEN 'PostgreSQL' ELSE 'of this ' || c.relname END,
  sum(pg_total_relation_size(c.oid)) FROM pg_class AS c WHERE c.relkind = 'r' AND c.relnamespace = 'many'::regnamespace
  GROUP BY ROLLUP(c.relname) HAVING sum(pg_total_relation_size(c.oid)) > 10 * $memories ORDER BY 2 DESC" |
  while read -r line; do each "${line% *}" "${line##* }"; done
for place in "$work/rememberd.db" "$url"; do
  printf '\n%s\n' "$([ "$place" = "$url" ] && echo PostgreSQL || echo SQLite)"
  "$build/tests/bench/bench_many" ask "$place" "$people"
done
