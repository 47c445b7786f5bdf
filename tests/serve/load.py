"""Rate under load and latency of one request; scripts/serve-load calls it.

The machine's own batch rate is that of the same program on the same model: one request of many samples, whose answer
says how long the computing took (X-Lano-Seconds), asked in turns with the load, so that both meet the same machine.
Usage: load.py LANO MODEL DATASET [CONNECTIONS [SECONDS [ROUNDS]]]"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

from served import Served, npy, read_answer, request, wait_for

lano, model, data = sys.argv[1:4]
connections, seconds, rounds = (int(w) for w in (sys.argv[4:] + ["1000", "20", "3"][len(sys.argv) - 4:]))
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-npy"
wrk.headers["Host"] = "localhost"
local file = io.open("%s", "rb")
wrk.body = file:read("*a")
file:close()
wrong = 0
function setup(thread) threads = threads or {}; table.insert(threads, thread) end
function init(args) wrong = 0; first = nil end
function response(status, headers, body)
  if status == 200 then
    if first == nil then first = body elseif first ~= body then wrong = wrong + 1 end
  else
    wrong = wrong + 1
  end
end
function done(summary, latency, requests)
  local all = 0
  for _, thread in ipairs(threads) do all = all + thread:get("wrong") end
  io.write(string.format("RESULT %%d %%d %%d %%d %%d %%d %%d %%f\\n", summary.requests, summary.errors.connect,
    summary.errors.read, summary.errors.write, summary.errors.timeout, summary.errors.status, all,
    summary.duration / 1e6))
end
"""


def resident(s):
    with open(f"/proc/{s.process.pid}/statm") as statm:
        return int(statm.read().split()[1]) * 4096 / 1e6


def processor_seconds(s):
    """Of the server, on all its threads: on a shared machine what the clock says is mostly the others' work."""
    with open(f"/proc/{s.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def batch_rate(s, field, count=100):
    """Samples per second of computing alone."""
    answer = s.predict("m", npy(numpy.repeat(field[None], count, axis=0)), "application/x-npy", "?answer=npy")
    assert answer.status == 200, answer.body
    return count / float(answer.headers["x-lano-seconds"])


def load(s, script):
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "300s", "-s", script,
                           f"http://127.0.0.1:{s.port}/v1/models/m/predict?answer=npy"], capture_output=True,
                               text=True)
    found = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\S+)", said.stdout)
    assert found, said
    requests, *errors, took = [float(w) for w in found.groups()]
    return requests / took, int(sum(errors)), requests


def round_trip(s, times=60):
    took = []
    with s.connect() as c:
        for _ in range(times):
            start = time.perf_counter()
            c.sendall(request("GET", "/healthz"))
            read_answer(c)
            took.append(1000 * (time.perf_counter() - start))
    return statistics.median(took)


def latency(s, body, kind, times=60):
    above = []
    with s.connect() as c:
        for _ in range(times):
            start = time.perf_counter()
            c.sendall(request("POST", "/v1/models/m/predict", body, kind, {"Accept": kind}))
            answer = read_answer(c)
            took = time.perf_counter() - start
            assert answer.status == 200
            above.append(1000 * (took - float(answer.headers["x-lano-seconds"])))
    return statistics.median(above), sorted(above)[int(0.9 * times)]


with tempfile.TemporaryDirectory() as folder, \
        Served(lano, f"m={model}", "--data", data, "--most-connections", str(connections + 50),
               "--answer-seconds", "600") as s:
    sample = s.get("/v1/models/m/samples/0").json
    field = numpy.float32(sample["input"])
    body = npy(field)
    with open(f"{folder}/body.npy", "wb") as file:
        file.write(body)
    with open(f"{folder}/load.lua", "w") as file:
        file.write(SCRIPT % f"{folder}/body.npy")
    batch_rate(s, field)
    print(f"/healthz: {round_trip(s):.2f} ms, what a round trip of any request takes on this machine now")
    for kind, sent in (("application/json", json.dumps({"input": sample["input"]}).encode()), ("application/x-npy",
        body)):
        median, late = latency(s, sent, kind)
        print(f"{kind}: {median:.2f} ms above Operator::predict (median of 60; nine of ten below {late:.2f})")
    start = processor_seconds(s)
    for _ in range(3):
        batch_rate(s, field)
    batch_ms = 1000 * (processor_seconds(s) - start) / 300
    ratios, memory = [], [resident(s)]
    for _ in range(rounds):
        before = batch_rate(s, field)
        start, done = processor_seconds(s), s.metric("lano_samples_total")
        rate, errors, answers = load(s, f"{folder}/load.lua")
        wait_for(lambda: s.metric("lano_waiting") == 0, 600)  # what wrk left behind is still computed
        load_ms = 1000 * (processor_seconds(s) - start) / (s.metric("lano_samples_total") - done)
        print(f"processor time: {load_ms:.2f} ms per answer under load, {batch_ms:.2f} ms per sample of a batch: "
              f"{batch_ms / load_ms:.2f} of the batch rate")
        after = batch_rate(s, field)
        memory.append(resident(s))
        ratios.append(rate / statistics.mean((before, after)))
        print(f"{connections} connections, {seconds} s: {rate:.0f} answers per second, {errors} of {answers:.0f} "
              f"lost or wrong; batch rate {before:.0f} before, {after:.0f} after; {memory[-1]:.0f} MB")
    per_pass = s.metric("lano_batched_requests_total") / s.metric("lano_batches_total")
    print(f"share of the batch rate {statistics.median(ratios):.2f} (median of {rounds}); "
          f"{per_pass:.1f} requests per pass; memory {memory[0]:.0f} MB before, {max(memory):.0f} MB at most after")
