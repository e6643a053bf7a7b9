# Starts TensorBoard, and asks it over HTTP. The judges of summaries use this file.
import json
import re
import select
import subprocess
import sys
import time
import urllib.parse
import urllib.request

SECONDS = 90  # For TensorBoard to start, and then for it to read all files.


class TensorBoard:
    """A server on the loopback interface, with a port of its own choice."""

    def __init__(self, folder, fast):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--host", "127.0.0.1",
             "--port", "0", f"--load_fast={fast}", "--reload_interval", "1",
             "--samples_per_plugin", "scalars=9999,histograms=9999,images=9999,text=9999"],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.address = self.wait_for_address()

    def wait_for_address(self):
        deadline = time.monotonic() + SECONDS
        heard = ""
        while time.monotonic() < deadline and self.process.poll() is None:
            ready, _, _ = select.select([self.process.stdout, self.process.stderr], [], [], 1)
            for stream in ready:
                heard += stream.readline()
            found = re.search(r"at (http://127\.0\.0\.1:\d+/)", heard)
            if found:
                return found.group(1)
        self.end()
        raise SystemExit("TensorBoard did not start: " + heard)

    def ask(self, route, body=None, **query):
        url = f"{self.address}data/plugin/{route}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.read()

    def ask_json(self, route, body=None, **query):
        return json.loads(self.ask(route, body, **query))

    def scalars(self, run, tag):
        return [(step, value) for _, step, value in
                self.ask_json("scalars/scalars", run=run, tag=tag)]

    def wait_until(self, is_read):
        """Returns when is_read(self)."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if is_read(self):
                return
            time.sleep(0.2)
        raise SystemExit("TensorBoard did not read all files")

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=SECONDS)
