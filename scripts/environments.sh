# Sourced by test and demo: makes .venv and .venv-legacy in the project's folder, where they are missing or outdated.
# Sets TEST_PYTHON and LEGACY_PYTHON.

# The pins in requirements/ are for this version; PYTHON names another interpreter.
python=${PYTHON:-$(command -v python3.11 || command -v python3)}

ensure_environment() {
    local folder=$1 requirements=$2 stamp
    stamp=$(cat "$requirements" <("$python" -VV) | sha256sum)
    if [[ -x $folder/bin/python && $(cat "$folder/.stamp" 2>/dev/null) == "$stamp" ]]; then
        return
    fi
    echo "making $folder from $requirements"
    "$python" -m venv --clear "$folder" || {
        echo "no virtual environment could be made: on Debian, install python3-venv; or set PYTHON" >&2
        return 1
    }
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements" || return 1
    echo "$stamp" >"$folder/.stamp"
}

ensure_environment .venv requirements/test.txt || exit 1
ensure_environment .venv-legacy requirements/legacy.txt || exit 1
TEST_PYTHON=$PWD/.venv/bin/python
LEGACY_PYTHON=$PWD/.venv-legacy/bin/python
