#!/bin/sh
# Coverage-guided fuzzing: builds the target with Clang, ASan and UBSan, makes seeds and a dictionary, runs it.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: tests/fuzz/run.sh [SECONDS [JOBS]]     default 120 seconds, one job
#        tests/fuzz/run.sh --coverage           lines of the plugin that the seeds and the corpus reach
#        tests/fuzz/run.sh --check              run all kept findings (tests/fuzz/findings) once
#
# IGGY_FUZZ_DIR (default build-fuzz) keeps the build, the corpus and what was found. A finding is copied to
# tests/fuzz/findings and is a test from then on.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
work=${IGGY_FUZZ_DIR:-$top/build-fuzz}

if ! command -v clang > /dev/null; then
    echo "run.sh: clang is missing (Debian: clang, libclang-rt-dev)" >&2
    exit 77
fi

build() { # folder, more options
    folder=$1
    shift
    # Where Make is not installed; a folder that is there keeps its own.
    if command -v ninja > /dev/null && [ ! -e "$folder/CMakeCache.txt" ]; then
        set -- -G Ninja "$@"
    fi
    cmake -S "$top" -B "$folder" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DIGGY_TESTS=ON \
        -DIGGY_SANITIZE=fuzzer-no-link,address,undefined "$@" > "$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
    cmake --build "$folder" --target fuzz_iggy --parallel 2 >> "$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
}

mkdir -p "$work/corpus"
# leaks: Wireshark's own at exit are many, and ours are asked for by tests/test_growth.py
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

case "${1:-}" in
--coverage)
    build "$work/coverage" -DIGGY_COVERAGE=ON
    llvm=$(clang -print-prog-name=llvm-profdata)
    program=$work/coverage/tests/fuzz/fuzz_iggy
    python3 "$here/make_seeds.py" "$work/seeds"
    LLVM_PROFILE_FILE=$work/coverage.raw "$program" -runs=0 "$work/corpus" "$work/seeds" > "$work/coverage.out" 2>&1
    "$llvm" merge -o "$work/coverage.data" "$work/coverage.raw"
    "$(dirname "$llvm")/llvm-cov" report "$program" -instr-profile="$work/coverage.data" "$top"/plugin/*.c
    exit 0 ;;
--check)
    build "$work/build"
    set -- "$here"/findings/*
    [ -e "$1" ] || { echo "no findings are kept"; exit 0; }
    exec "$work/build/tests/fuzz/fuzz_iggy" "$@" ;;
esac

seconds=${1:-120}
jobs=${2:-1}
build "$work/build"
program=$work/build/tests/fuzz/fuzz_iggy
python3 "$here/make_seeds.py" "$work/seeds"
"$program" --dictionary > "$work/iggy.dict"

cd "$work"
# the timeout is not CPU time: on a busy machine 20 s were too few for an input that takes 0.2
set -- -max_total_time="$seconds" -max_len=16384 -len_control=0 -timeout=120 -error_exitcode=1 -rss_limit_mb=4096 -dict=iggy.dict \
    -artifact_prefix="$work/" -print_final_stats=1
[ "$jobs" -gt 1 ] && set -- "$@" -fork="$jobs"
exec "$program" "$@" corpus seeds
