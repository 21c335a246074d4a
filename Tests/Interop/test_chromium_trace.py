"""Checks that livehostctl calibrates costs from a trace of Chromium whose page uses performance.measure().

Only the number of measurements is checked, not their durations."""
import json
import shutil
import subprocess

PAGE = """<script>
function burn(milliseconds) {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
function measure(name, milliseconds, detail, within) {
  const start = performance.now();
  burn(milliseconds);
  if (within) within();
  performance.measure(name, {start, end: performance.now(), detail});
}
for (let number = 0; number < 40; number++) {
  const elements = number % 5;
  measure("HostView", 1, {elements, first: number == 0},
    () => measure("ChatView", 1 + elements, {elements, first: number == 0}));
}
</script>
"""


def test_a_trace_of_chromium_is_calibrated(check, programs, tmp_path):
    if not shutil.which("chromium"):
        check.skip("there is no chromium", 6)
        return
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    page.write_text(PAGE)

    def run(name, *command):
        return check.runs(name, command, stderr=subprocess.DEVNULL)

    run("Chromium records a trace", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}", "--trace-startup=blink.user_timing", "--trace-startup-format=json",
        f"--trace-startup-file={trace}", "--trace-startup-duration=4", "--virtual-time-budget=3000", "--dump-dom",
        page.as_uri())
    check("the trace of Chromium is not empty", trace.exists() and trace.stat().st_size > 0, f"{trace} is missing or empty")
    costs = run("livehostctl calibrates costs from the trace", programs / "livehostctl", "calibrate", trace, "--json=short")
    found = {cost["name"]: cost["measurements"] for cost in json.loads(costs or '{"costs": []}')["costs"]}
    # Every fifth measurement after the first evaluation is held out.
    check.equal("all measurements of a view are found", found.get("HostView"), 33)
    check.equal("all measurements of a nested view are found", found.get("ChatView"), 33)
    run("livehostctl writes a device profile with the costs", programs / "livehostctl", "calibrate", trace, "--like", "iphone-15-plus",
        "--output", tmp_path / "mine.yaml")
