#!/usr/bin/env python3
"""batch.py PORT - a batch system to try batch.json with: it "prints" reports, a page every 0.2 s.

    python3 examples/batch.py 8090 &
    BATCH_URL=http://127.0.0.1:8090 errand tools check examples/batch.json --run report '{"pages": 5}'

It prints its address; port 0 is any that is free.

What makes a tool of it safe is the few lines about Idempotency-Key: a submit that comes again is
answered with the job that it made the first time.
"""
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE_S = 0.2
jobs = {}  # id -> what was asked, when, and whether it was killed
ids = {}  # Idempotency-Key -> id


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", kind="application/json"):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def job(self):
        job = jobs.get(self.path.split("/")[2] if self.path.startswith("/jobs/") else "")
        if job is None:
            self.answer(404, {"error": "no such job"})
        return job

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Idempotency-Key")
        if key not in ids:
            ids[key] = f"report-{len(jobs) + 1}"
            jobs[ids[key]] = {"pages": asked["pages"], "began": time.time(), "killed": False}
        self.answer(202, {"id": ids[key]})

    def do_GET(self):
        job = self.job()
        if job is None:
            return
        done = min(job["pages"], int((time.time() - job["began"]) / PAGE_S))
        if self.path.endswith("/output"):
            self.answer(200, f"a report of {job['pages']} pages\n".encode(), "text/plain")
        else:
            state = "KILLED" if job["killed"] else "DONE" if done == job["pages"] else "PRINTING"
            self.answer(200, {"state": state, "done": done, "pages": job["pages"], "note": f"page {done}"})

    def do_DELETE(self):
        job = self.job()
        if job is not None:
            job["killed"] = True
            self.answer(204)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Api)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
