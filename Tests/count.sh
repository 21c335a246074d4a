# Sourced by sanitize.sh: counts what a log of Swift Testing says.

# Its lines begin with one character of three bytes, which it colours wherever TERM is set, even in a pipe.
export LC_ALL=C.UTF-8 NO_COLOR=1

# count_tests LOG: sets total, without and bad, the numbers of tests that were run, skipped, and failed.
count_tests() {
  total=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$1" | tail -n 1)
  without=$(grep -cE '^. Test .* skipped: ' "$1")
  bad=$(grep -E '^. Test .* failed after' "$1" | grep -cv 'Test run with')
  # The runner's total includes skipped tests.
  total=$((${total:-0} - without))
}
