# Sourced by the scripts that run tests of Swift Testing: counts what its log says.

# Its lines begin with one character of three bytes, which it colours wherever TERM is set, even in a pipe.
export LC_ALL=C.UTF-8 NO_COLOR=1

# test_built LOG FOLDER OPTION...: runs the tests of this directory's package, which are built already, and checks
# that those in FOLDER all were run. For scripts that have sourced Interop/lib.sh.
test_built() {
  swift test --skip-build "${@:3}" 2>&1 | tee "$1" |
    grep -E '^. (Test|Suite) .*failed|recorded an issue|Test run with|error:'
  count_tests "$1"
  check 'all its tests were run' test "$total" -eq "$(cat "$2"/*.swift | grep -c '@Test')"
  passed=$((passed + total - bad)) failed=$((failed + bad))
}

# count_tests LOG: sets total, without and bad, the numbers of tests that were run, skipped, and failed.
count_tests() {
  total=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$1" | tail -n 1)
  without=$(grep -cE '^. Test .* skipped: ' "$1")
  bad=$(grep -E '^. Test .* failed after' "$1" | grep -cv 'Test run with')
  # The runner's total includes skipped tests.
  total=$((${total:-0} - without))
}
