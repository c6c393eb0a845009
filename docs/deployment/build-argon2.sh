#!/bin/sh
# Builds argon2-cffi-bindings for processors with AVX2 and for those with AVX-512 from its locked source, and puts the
# builds into the folders argon2-avx2 and argon2-avx512 of a virtual environment, beside the wheel:
# build-argon2.sh PYTHON requirements-argon2.lock. It needs gcc 11 or newer.
set -eu
python=$1 lock=$2
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "Only Linux on x86-64 has a use for it: nothing to build"
    exit 0
fi
prefix=$("$python" -c 'import sys; print(sys.prefix)')
work=$(mktemp -d)
trap 'rm -rf "$work" "$prefix/argon2-avx2.new" "$prefix/argon2-avx512.new"' EXIT

export ARGON2_CFFI_USE_SSE2=1 PATH="$work/venv/bin:$PATH"
# Without a cache: from there, a build could be installed in place of the wheel.
if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$python" -m venv "$work/venv"
    install="$work/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-cache-dir"
    reinstall="--no-deps --force-reinstall"
else
    uv venv --quiet --python "$python" "$work/venv"
    install="uv pip install --quiet --python $work/venv/bin/python --no-cache"
    reinstall="--reinstall-package argon2-cffi-bindings"
fi
$install --require-hashes -r "$lock"

# Builds for a level of the x86-64 psABI: build LEVEL FOLDER
build() {
    folder="$prefix/$2"
    # shellcheck disable=SC2086  # several options
    CFLAGS="-O3 -march=$1" $install --require-hashes -r "$lock" --no-build-isolation \
        --no-binary argon2-cffi-bindings $reinstall
    mkdir -p "$folder.new"
    cp -R "$work"/venv/lib/python*/site-packages/_argon2_cffi_bindings "$folder.new/"
    rm -rf "$folder"
    mv "$folder.new" "$folder"
    echo "Built $folder; servers use it from their next start on"
}
build x86-64-v3 argon2-avx2
build x86-64-v4 argon2-avx512
