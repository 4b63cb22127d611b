#!/bin/sh
# Creates .venv, the environment that every target uses. Environment variables:
#   TENSORFLOW   a minor version, 2.18 for example: the environment is then .venv-2.18; unset: the newest, in .venv
#   DEVICE       cpu or gpu: which TensorFlow; unset: gpu where nvidia-smi finds one
#   BASE_PYTHON  the Python to make it from; unset: the first one in the supported range
# A failure is one line that says what is missing and what installs it, and leaves no environment behind.
set -u
cd "$(dirname "$0")/.." || exit 1

fail() {
  printf 'make env: %s\n' "$*" >&2
  exit 1
}

# The command that installs a package: of apt-get, dnf and brew, the one this machine has.
installs() {
  if command -v apt-get >/dev/null 2>&1; then
    echo "sudo apt-get install $1"
  elif command -v dnf >/dev/null 2>&1; then
    echo "sudo dnf install $2"
  else
    echo "brew install $3"
  fi
}

# The range of minor versions in a line of pyproject.toml, as two numbers: the oldest and the newest.
range() {
  sed -n "s/.*$1.*>=[23]\.\([0-9]*\),<[23]\.\([0-9]*\).*/\1 \2/p" pyproject.toml | while read -r from below; do
    echo "$from $((below - 1))"
    break
  done
}

tensorflow=${TENSORFLOW:-}
venv=.venv${tensorflow:+-$tensorflow}
pythons=$(range requires-python)
oldest=${pythons% *}
newest=${pythons#* }
if [ -n "$tensorflow" ]; then
  releases=$(range tensorflow-cpu)
  seq -f 2.%g "${releases% *}" "${releases#* }" | grep -qxF "$tensorflow" ||
    fail "TENSORFLOW is 2.${releases% *} to 2.${releases#* }, not $tensorflow"
  # Releases before 2.20 have no package for Python 3.13.
  if [ "${tensorflow#2.}" -lt 20 ]; then
    newest=12
  fi
fi

candidates=${BASE_PYTHON:-python3}
[ -n "${BASE_PYTHON:-}" ] || for minor in $(seq "$newest" -1 "$oldest"); do
  candidates="$candidates python3.$minor"
done

base=""
found=""
for candidate in $candidates; do
  version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
  found="$found $candidate is $version;"
  minor=${version#3.}
  if [ "${version%%.*}" = 3 ] && [ "$minor" -ge "$oldest" ] && [ "$minor" -le "$newest" ]; then
    base=$candidate
    break
  fi
done
[ -n "$base" ] || fail "needs Python 3.$oldest to 3.$newest, found${found:- none}${found:+ none of these will do}:" \
  "$(installs "python3 python3-venv" "python3.12" "python@3.12"), or name one with BASE_PYTHON=/path/to/python3"

"$base" -c 'import ensurepip, venv' 2>/dev/null ||
  fail "$base has no venv module: $(installs "python$version-venv" "python3-libs" "python@$version")"

device=${DEVICE:-cpu}
if [ -z "${DEVICE:-}" ] && nvidia-smi -L >/dev/null 2>&1; then
  device=gpu
fi
case $device in
  cpu | gpu) ;;
  *) fail "DEVICE is cpu or gpu, not $device" ;;
esac

# The stamp says what the environment was made from: another edit of pyproject.toml need not make it again.
made_from=$(sed '/^\[tool/,$d' pyproject.toml | cat - constraints.txt packages/opcheck/pyproject.toml | cksum)
if [ "$(cat "$venv/complete" 2>/dev/null)" = "$device $made_from" ]; then
  touch "$venv/complete"
  exit
fi

log=$(mktemp)
constraints=$(mktemp)
trap 'rm -f "$log" "$constraints"; [ -e "$venv/complete" ] || rm -rf "$venv"' EXIT
trap 'exit 130' INT TERM HUP

# Installs the extras in $1: uv in a quarter of pip's time, and where it cannot, pip, which says why. A failure is put
# down to the network where pip names it, whatever comes last.
unreachable='SSLError|NewConnectionError|ConnectTimeout|ReadTimeout|NameResolutionError|ProxyError'
unreachable="$unreachable|Connection refused|Connection reset|problem confirming the ssl certificate"
install() {
  set -- --quiet --constraint "$constraints" --editable packages/opcheck --editable ".[$1]"
  "$venv/bin/python" -m uv pip install --python "$venv/bin/python" "$@" >"$log" 2>&1 && return
  "$venv/bin/python" -m pip install --disable-pip-version-check "$@" >"$log" 2>&1 && return
  reason=$(grep -oE "($unreachable).*" "$log" | tail -n 1)
  last=$(grep 'ERROR:' "$log" | tail -n 1 | sed 's/^ *//')
  last=${last:-$(tail -n 1 "$log")}
  if [ -n "$reason" ] || grep -q 'from versions: none' "$log"; then
    fail "pip cannot reach the package index: connect, or set PIP_INDEX_URL or a proxy, and run make env again." \
      "pip says: ${reason:+$reason; }$last"
  fi
  fail "pip cannot install the dependencies: $last"
}

echo "Creating $venv with Python $version and TensorFlow${tensorflow:+ $tensorflow} for the $device: some minutes, the first time only"
rm -rf "$venv"
"$base" -m venv "$venv" >"$log" 2>&1 ||
  fail "$base cannot make an environment in $venv: $(tail -n 1 "$log")"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$(grep '^uv==' constraints.txt)" >"$log" 2>&1
# uv does not read pip's settings: the index of a company stands there.
index=${PIP_INDEX_URL:-$("$venv/bin/python" -m pip config get global.index-url 2>"$log")}
export UV_DEFAULT_INDEX="${index:-https://pypi.org/simple}"
if [ -n "$tensorflow" ]; then
  # What this TensorFlow depends on is its to choose; constraints.txt pins only the rest. TensorBoard 2.18 imports
  # pkg_resources, which newer releases of setuptools lack; the write_graph of TensorFlow 2.20 fails with protobuf 7.
  printf '%s\n' "tensorflow==$tensorflow.*" "tensorflow-cpu==$tensorflow.*" "setuptools<81" "protobuf<7" >"$constraints"
  install "$device"
  "$venv/bin/python" -m pip freeze --all --exclude-editable >"$log"
  awk -F== '{ name = tolower($1); gsub(/[_.]/, "-", name) } FNR == NR { chosen[name]; print } FNR < NR && !(name in chosen)' \
    "$log" constraints.txt >"$constraints"
else
  cat constraints.txt >"$constraints"
fi
install "$device,dev"
echo "$device $made_from" >"$venv/complete"
