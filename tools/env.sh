#!/bin/sh
# Creates .venv, the environment that every target uses. Environment variables:
#   DEVICE       cpu or gpu: which TensorFlow; unset: gpu where nvidia-smi finds one
#   BASE_PYTHON  the Python to make it from; unset: the first one in the supported range
# A failure is one line that says what is missing and what installs it, and leaves no .venv behind.
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

range=$(sed -n 's/^requires-python = ">=3\.\([0-9]*\),<3\.\([0-9]*\)"$/\1 \2/p' pyproject.toml)
oldest=${range% *}
newest=$((${range#* } - 1))

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
made_from=$(sed '/^\[tool/,$d' pyproject.toml | cat - constraints.txt | cksum)
if [ "$(cat .venv/complete 2>/dev/null)" = "$device $made_from" ]; then
  touch .venv/complete
  exit
fi

log=$(mktemp)
trap 'rm -f "$log"; [ -e .venv/complete ] || rm -rf .venv' EXIT
trap 'exit 130' INT TERM HUP

echo "Creating .venv with Python $version and TensorFlow for the $device: some minutes, the first time only"
rm -rf .venv
"$base" -m venv .venv >"$log" 2>&1 ||
  fail "$base cannot make an environment in .venv: $(tail -n 1 "$log")"
if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
  --editable ".[$device,dev]" >"$log" 2>&1; then
  if grep -qE 'NewConnectionError|ConnectTimeout|ReadTimeout|NameResolutionError|ProxyError|Connection (refused|reset)|from versions: none' "$log"; then
    fail "no network: pip cannot reach the package index; connect (or set PIP_INDEX_URL or a proxy) and run make env again"
  fi
  fail "pip cannot install the dependencies: $(grep -E '^ *(ERROR|error)' "$log" | tail -n 1)"
fi
echo "$device $made_from" >.venv/complete
