# shellcheck shell=bash
# Shared by the job scripts. A job that is started alone installs the packages first, and prints its own result.
# Within .ci/run, which sets CI_REPORTS, a job only stores its result in that directory.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

alone=''
if [ -z "${CI_REPORTS:-}" ]; then
  alone=yes
  CI_REPORTS=$(mktemp -d)
  export CI_REPORTS
  trap 'rm -rf "$CI_REPORTS"' EXIT
  .ci/install || exit 1
fi

# record JOB EXIT_STATUS [TITLE] [NOTE] stores the result of a job. The exit status "skipped" is a job that could not run here.
record() {
  printf '%s\n' "$2" "${3:-$1}" "${4:-}" >"$CI_REPORTS/$1.status"
}

# suite JOB COMMAND … runs a command that passes its arguments on to vitest, and stores its report and its exit status.
suite() {
  local job=$1
  shift
  local reporters=(--reporter=default --reporter=json "--outputFile.json=$CI_REPORTS/$job.json")
  if [ -n "${GITHUB_ACTIONS:-}" ]; then reporters+=(--reporter=github-actions); fi
  "$@" "${reporters[@]}"
  record "$job" $? "${title:-$job}"
}

# summarize JOB … prints the results and failures, and exits with 1 if a job failed.
summarize() {
  node_modules/.bin/node scripts/ci/summary.ts "$CI_REPORTS" "$@"
}

# finish JOB ends a job script.
finish() {
  if [ -z "$alone" ]; then exit 0; fi
  summarize "$1"
  exit $?
}
