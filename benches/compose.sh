#!/bin/sh
# How long composing 1 MiB of code takes: members, checked arguments and casts as a generated
# program has them. Prints one JSON object a round. Usage: benches/compose.sh [COMPILER]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${1:-${CXX:-g++}}" -std=c++17 -O2 -I "$root/runtime" -o "$out/parts" "$root/runtime/tests/parts.cc"
"$out/parts" composer speed
