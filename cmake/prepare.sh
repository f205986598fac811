# shellcheck shell=bash disable=SC2154
# What ./check and ./demo share: packages, the FUSE device, building. Sourced, not run; the caller
# has set `set -euo pipefail`, stands in the top folder, and has set program=NAME.

started=$SECONDS

# A headline with the minutes and seconds since the start.
step() {
  local seconds=$((SECONDS - started))
  printf '\n== [%02d:%02d] %s\n' $((seconds / 60)) $((seconds % 60)) "$*"
}

# The machine lacks something: one line, and the exit code that means it.
lacking() {
  printf '%s: %s\n' "$program" "$*" >&2
  exit 77
}

# The packages that $program needs, one a line.
wanted_packages() {
  local name who
  sed 's/#.*//' cmake/packages.txt | while read -r name who; do
    if [[ -n $name && (-z $who || $who == "$program") ]]; then echo "$name"; fi
  done
}

missing_packages() {
  local name
  while read -r name; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done < <(wanted_packages)
}

# Some packages bring a service; none of them is started.
install_packages() (
  export DEBIAN_FRONTEND=noninteractive
  policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  apt-get -q update && apt-get -q install -y --no-install-recommends "$@"
)

# Installs the packages that are not there.
prepare_packages() {
  local missing
  command -v dpkg-query >/dev/null || lacking "this needs Debian 12 (there is no dpkg-query)"
  missing=$(missing_packages | paste -sd ' ')
  if [[ -z $missing ]]; then
    step "packages: all $(wanted_packages | wc -l) of cmake/packages.txt are installed"
    return
  fi
  if ((EUID != 0)); then
    lacking "packages are missing and only root can install them: apt-get install $missing"
  fi
  step "packages: installing $missing"
  # shellcheck disable=SC2086  # one word per package
  if ! install_packages $missing >build/apt.log 2>&1; then
    tail -n 15 build/apt.log >&2
    lacking "apt-get could not install: $missing"
  fi
}

# Ends the script unless this process can mount a FUSE filesystem.
require_fuse() {
  [[ -c /dev/fuse ]] || lacking "no FUSE: /dev/fuse is missing (a container needs --device /dev/fuse)"
  (exec 3<>/dev/fuse) 2>/dev/null || lacking "no FUSE: /dev/fuse cannot be opened by this user"
  if ((EUID == 0)); then
    unshare --mount true 2>/dev/null ||
      lacking "no FUSE: this process may not mount (a container needs --cap-add SYS_ADMIN)"
  else
    command -v fusermount3 >/dev/null || lacking "no FUSE: fusermount3 is missing"
  fi
}

# build PRESET [TARGET...]: configures and builds; everything without targets.
build() {
  local preset=$1 launcher=() targets=()
  shift
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  if (($# > 0)); then targets=(--target "$@"); fi
  step "build: $preset${*:+ ($*)}"
  # A build folder that was copied, or made by another generator, is begun anew.
  if ! cmake --preset "$preset" "${launcher[@]}" >build/configure.log 2>&1 &&
    ! cmake --fresh --preset "$preset" "${launcher[@]}" >build/configure.log 2>&1; then
    cat build/configure.log >&2
    return 1
  fi
  local command=(cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}")
  if [[ -t 1 ]]; then
    "${command[@]}"
  else
    # A line per file is for nobody; what the compiler says is.
    "${command[@]}" | { grep -v '^\[[0-9]*/[0-9]*\] ' || true; }
  fi
}

mkdir -p build
