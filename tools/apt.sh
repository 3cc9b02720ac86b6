# apt.sh - Debian packages for ./dev and third_party/fetch: installed by root or sudo, named for an administrator otherwise.
export LC_ALL=C.UTF-8

say() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

has_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

have_package() { dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q 'ok installed'; }

APT_CONFIG=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/apt.conf
export APT_CONFIG

# Says every quarter of what apt-get reports of its progress.
apt_progress() {
  awk 'match($0, /: *[0-9]+\.[0-9]+:/) {
    kind = /^dl/ ? "downloaded" : "installed"
    quarter = int(substr($0, RSTART + 1, RLENGTH - 2) / 25)
    if (quarter <= reached[kind]) next
    reached[kind] = quarter
    printf "  %s %d %%\n", kind, 25 * quarter
  }' >&2
}

# run_apt WHAT COMMAND…: an apt-get whose report is shown only when it fails. A mirror that does not answer is called that.
run_apt() {
  local what=$1 log status=0; shift
  log=$(mktemp)
  # Progress is on 3, which sudo closes, so it is made there. On 1 it would disturb the packages' own scripts.
  "$1" sh -c 'exec "$@" 3>&1 1>&2' sh "${@:2}" -o APT::Status-Fd=3 2>"$log" | apt_progress || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 20 "$log" >&2
    if grep -qE 'Failed to fetch|Unable to fetch|Could not (resolve|connect)|Temporary failure' "$log"; then
      what="the package mirror cannot be reached: $what"
    fi
    rm -f "$log"
    die "$what failed"
  fi
  rm -f "$log"
}

apt_get() { run_apt "apt-get $1" as_root env APT_CONFIG="$APT_CONFIG" DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }

# Those of the names that the package lists of this machine know.
known_packages() { apt-cache show --no-all-versions "$@" 2>/dev/null | sed -n 's/^Package: //p' | sort -u; }

# One name for each word: of "a|b" the first that is known, of "a?" a or nothing, else the word as it is.
choose_packages() {
  local known word name
  known=$(known_packages $(tr '|?' '  ' <<<"$*") || true)
  for word in "$@"; do
    for name in ${word//[|?]/ } ''; do
      if [ -z "$name" ] || grep -qxF -- "$name" <<<"$known"; then break; fi
    done
    if [ -n "$name" ]; then echo "$name"; elif [[ "$word" != *'?' ]]; then echo "${word%%|*}"; fi
  done
}

# The words of which no package is installed.
missing_packages() {
  local word name
  for word in "$@"; do
    for name in ${word//[|?]/ } ''; do
      if [ -z "$name" ] || have_package "$name"; then break; fi
    done
    [ -n "$name" ] || echo "$word"
  done
}

# install_packages WORD…: what is missing of them, as choose_packages reads the words.
install_packages() {
  local missing chosen
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! has_root; then
    mapfile -t chosen < <(choose_packages "${missing[@]}")
    [ ${#chosen[@]} -gt 0 ] || return 0
    die "packages are missing, and neither root nor sudo is here to install them. Ask an administrator to run:
apt-get install -y --no-install-recommends ${chosen[*]}"
  fi
  say "reading the package lists"
  apt_get update
  mapfile -t chosen < <(choose_packages "${missing[@]}")
  [ ${#chosen[@]} -gt 0 ] || return 0
  say "installing ${chosen[*]}"
  apt_get install -y --no-install-recommends "${chosen[@]}"
}

# unpack_package NAME DIR: its files into DIR, without installing it or what it depends on.
unpack_package() {
  local name=$1 dir=$2 work
  work=$(mktemp -d)
  (cd "$work" && run_apt "apt-get download $name" env apt-get -q download "$name")
  mkdir -p "$dir"
  dpkg -x "$work"/*.deb "$dir"
  rm -rf "$work"
}
