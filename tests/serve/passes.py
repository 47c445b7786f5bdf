"""What sharing a pass gains: the computing time of requests that arrive together, by --pass-points, in turns.
Usage: passes.py LANO MODEL DATASET [ROUNDS]   (scripts/serve-load has the other numbers)"""
import statistics
import sys
import time

import numpy

from served import Served, npy, read_answer, request, wait_for

lano, model, data = sys.argv[1:4]
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
REQUESTS = 40
spent = {}
for points in (1, 4096, 16384):
    spent[points] = []
servers = {points: Served(lano, f"m={model}", "--data", data, "--pass-points", points) for points in spent}
try:
    sample = servers[1].get("/v1/models/m/samples/0").json
    key = "input" if "input" in sample else "coordinates"
    body = request("POST", "/v1/models/m/predict?answer=npy", npy(sample[key]), "application/x-npy")
    for turn in range(rounds + 1):
        for points, s in servers.items():
            def seconds():
                return s.metric('lano_predict_seconds_sum{model="m"}') if turn > 0 else 0
            before = seconds()
            clients = [s.connect() for _ in range(REQUESTS)]
            for c in clients:
                c.sendall(body)
            for c in clients:
                assert read_answer(c).status == 200
                c.close()
            if turn > 0:
                spent[points].append((seconds() - before) / REQUESTS * 1000)
    for points, s in servers.items():
        share = s.metric("lano_batched_requests_total") / s.metric("lano_batches_total")
        print(f"--pass-points {points}: {statistics.median(spent[points]):.2f} ms per request, {share:.1f} per pass")
finally:
    for s in servers.values():
        s.__exit__(None)
