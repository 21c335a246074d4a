"""Chromium records a trace of a page that measures with performance.measure(), and livehostctl takes costs from it.

No time is judged: only that everything in the trace is found."""
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
    check("which is there", trace.exists() and trace.stat().st_size > 0, f"{trace} is missing or empty")
    costs = run("livehostctl takes costs from it", programs / "livehostctl", "calibrate", trace, "--json=short")
    found = {cost["name"]: cost["measurements"] for cost in json.loads(costs or '{"costs": []}')["costs"]}
    # Every fifth of those after the first evaluation is held out.
    check.equal("it has every measure of a view", found.get("HostView"), 33)
    check.equal("and of the view within that", found.get("ChatView"), 33)
    run("a device profile comes of it", programs / "livehostctl", "calibrate", trace, "--like", "iphone-15-plus",
        "--output", tmp_path / "mine.yaml")
