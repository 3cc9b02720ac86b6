# roots.sh - bare Debian folders for building and trying packages: made once by debootstrap, entered with processes of
# their own, which end with the command. Needs root. MIRROR names another mirror than this machine's.
. tools/apt.sh
roots=$PWD/.cache/roots
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)}
mirror=${mirror%/}

# in_root ROOT COMMAND…
in_root() {
  local root=$1; shift
  unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive ${SOURCE_DATE_EPOCH:+SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH"} \
    ${REMEMBERD_SQLITE:+REMEMBERD_SQLITE=/sqlite.tgz} ${npm_config_registry:+npm_config_registry="$npm_config_registry"} \
    chroot "$root" "$@"
}

# quietly LOG COMMAND…: shows the end of the log when the command fails.
quietly() {
  local log=$1; shift
  "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; die "failed: $* (whole in $log)"; }
}

# What a root needs of this machine to reach mirrors and registries: names, proxies, and the certificates of a private authority.
lend_network() {
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$1/etc/apt/apt.conf.d/80lent" || true
  mkdir -p "$1/usr/local/share/ca-certificates"
  if [ -d /usr/local/share/ca-certificates ]; then cp -r /usr/local/share/ca-certificates "$1/usr/local/share/"; fi
}

# bare_root SUITE: prints the folder of a bare Debian, which nobody may change.
bare_root() {
  local root=$roots/$1
  if [ ! -d "$root" ]; then
    say "debootstrap $1"
    mkdir -p "$roots"
    rm -rf "$root.new"
    quietly "$root.log" debootstrap --variant=minbase "$1" "$root.new" "$mirror"
    rm -f "$root.new"/var/cache/apt/archives/*.deb
    {
      echo "deb $mirror $1 main"
      echo "deb-src $mirror $1 main"
      echo "deb $mirror $1-updates main"
      echo "deb $mirror-security $1-security main"
      echo "deb-src $mirror-security $1-security main"
    } >"$root.new/etc/apt/sources.list"
    lend_network "$root.new"
    mv "$root.new" "$root"
  fi
  echo "$root"
}

# copy_root SUITE NAME: prints the folder of a fresh copy, which the caller changes and deletes.
copy_root() {
  local from to=$roots/$2
  from=$(bare_root "$1")
  rm -rf --one-file-system "$to"
  cp -a --reflink=auto "$from" "$to"
  echo "$to"
}

# build_root SUITE NAME PACKAGE…: prints the folder of a copy with these packages, made once for each list of packages.
# One of the packages may be for another architecture, as libuv1-dev:arm64.
build_root() {
  local suite=$1 root=$roots/$2; shift 2
  if [ "$(cat "$root/packages" 2>/dev/null)" != "$*" ]; then
    say "installing what builds in ${root##*/}"
    copy_root "$suite" "${root##*/}" >/dev/null
    if [[ "$*" == *:arm64* ]]; then in_root "$root" dpkg --add-architecture arm64; fi
    cp tools/apt.conf "$root/etc/apt/apt.conf.d/90rememberd"
    quietly "$root.log" in_root "$root" sh -c 'apt-get -q update && apt-get -q dist-upgrade -y --no-install-recommends &&
      apt-get -q install -y --no-install-recommends "$@"' sh "$@"
    echo "$*" >"$root/packages"
  fi
  echo "$root"
}
