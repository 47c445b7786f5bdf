"""A server's life: limits under load, slow clients, tokens, a model file that changes, the end under load.
Usage: life_test.py LANO MADE_MODELS"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy

from served import Served, from_npy, npy, read_answer, request, wait_for

lano, made_models = sys.argv[1:3]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
subprocess.run([made_models, folder], check=True)
grid = folder / "grid.safetensors"
field = numpy.random.default_rng(1).normal(size=(12, 10, 1)).astype(numpy.float32)
P = "/v1/models/grid/predict?answer=npy"


def asked(array, path=P):
    return request("POST", path, npy(array), "application/x-npy")


def truth(model, array):
    numpy.save(folder / "t.npy", array)
    subprocess.run([lano, "predict", model, "--input", folder / "t.npy", "--out", folder / "u.npy", "--force"],
                   check=True, stdout=subprocess.DEVNULL)
    return numpy.load(folder / "u.npy")[0]


def together():
    """Many at once: each has its own answer, to the bit, in fewer passes than there are requests."""
    fields = [field * (1 + k / 50) for k in range(60)]
    with Served(lano, grid) as s:
        alone = [from_npy(s.predict("grid", npy(f), "application/x-npy", "?answer=npy").body) for f in fields]
        passes = s.metric("lano_batches_total")
        open_ones = [s.connect() for _ in fields]
        for c, f in zip(open_ones, fields):
            c.sendall(asked(f))
        for c, want in zip(open_ones, alone):
            answer = read_answer(c)
            assert answer.status == 200 and numpy.array_equal(from_npy(answer.body), want)
            c.close()
        assert s.metric("lano_batches_total") - passes < len(fields), "no two shared a pass"
        assert abs(alone[0] - truth(grid, fields[0])).max() == 0


def beyond_the_queue():
    """What waits beyond the limit is told 429 at once; what was accepted is answered."""
    with Served(lano, grid, "--most-waiting", "4", "--most-connections", "40") as s:
        long = numpy.repeat(field[None], 4000, axis=0)
        clients = [s.connect(60) for _ in range(12)]
        for c in clients:
            c.sendall(asked(long))
        answers = [read_answer(c) for c in clients]
        statuses = [a.status for a in answers]
        assert statuses.count(200) >= 4 and statuses.count(429) >= 1, statuses
        assert set(statuses) <= {200, 429}, statuses
        busy = next(a for a in answers if a.status == 429)
        assert busy.headers["retry-after"] == "1" and "4 predictions are waiting already" in busy.message
        for c in clients:
            c.close()
        # Connections beyond the limit are told so, and the others stay of use.
        wait_for(lambda: s.metric("lano_connections") < 3)
        many = [s.connect() for _ in range(60)]
        told = sum(1 for c in many[45:] if (a := read_answer(c)) is not None and a.status == 503)
        assert told >= 10, told
        many[0].sendall(asked(field))
        assert read_answer(many[0]).status == 200
        for c in many:
            c.close()
        wait_for(lambda: s.metric("lano_connections") < 3)


def limits():
    with Served(lano, grid, "--most-points", "1000", "--most-body", "0.05") as s:
        assert s.predict("grid", npy(numpy.repeat(field[None], 9, axis=0)), "application/x-npy").status == 422
        assert s.predict("grid", npy(numpy.repeat(field[None], 900, axis=0)), "application/x-npy").status == 413
        assert s.predict("grid", npy(field), "application/x-npy").status == 200


def slow_clients():
    """A head that never ends is dropped, and holds up nobody."""
    with Served(lano, grid) as s:
        slow = [s.connect(30) for _ in range(20)]
        for c in slow:
            c.sendall(b"POST /v1/models/grid/predict HTTP/1.1\r\nHost: local")
        start = time.time()
        assert s.predict("grid", npy(field), "application/x-npy").status == 200
        assert time.time() - start < 5
        statuses = {(a := read_answer(c)) and a.status for c in slow}
        assert statuses <= {408, None} and time.time() - start < 25, statuses
        assert s.metric("lano_dropped_connections_total") >= 20


def tokens():
    refused = subprocess.run([lano, "serve", grid, "--address", "0.0.0.0", "--port", "0"], capture_output=True,
        text=True)
    assert refused.returncode == 2 and "--token" in refused.stderr, refused
    with Served(lano, grid, "--address", "0.0.0.0", "--token", "s3cret") as s:
        assert s.get("/v1/models").status == 401 and s.get("/metrics").status == 401
        assert s.predict("grid", npy(field), "application/x-npy").status == 401
        assert s.get("/v1/models/nobody").status == 401, "whether a model is there is nobody's business"
        for wrong in ("Bearer s3cre", "Bearer s3crett", "Bearer ", "s3cret", "Basic s3cret"):
            assert s.ask("GET", "/v1/models", headers={"Authorization": wrong}).status == 401, wrong
        assert s.ask("GET", "/v1/models", headers={"Authorization": "Bearer s3cret"}).status == 200
        assert s.get("/healthz").status == 200 and s.get("/").status == 200
    with Served(lano, grid, "--address", "0.0.0.0", "--open") as s:
        assert s.get("/v1/models").status == 200
        wait_for(lambda: "OPEN TO EVERYBODY" in s.said())


class Load:
    """Clients that ask one after the other on connections that stay open; every answer is kept."""

    def __init__(self, s, clients):
        self.answers, self.lost, self.ending = [], [], False
        self.threads = [threading.Thread(target=self.ask, args=(s,)) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def ask(self, s):
        try:
            with s.connect(60) as c:
                while not self.ending:
                    c.sendall(asked(field))
                    answer = read_answer(c)
                    if answer is None:
                        self.lost.append("closed")
                        return
                    self.answers.append((answer.status, answer.body))
                    if answer.headers.get("connection") == "close":
                        return
        except OSError as error:
            self.lost.append(str(error))

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join()


def changed_file():
    """Another model under the same name, a broken one, and back: no request is lost, each answer is one of the two."""
    file = folder / "live.safetensors"
    shutil.copy(grid, file)
    first, second = truth(grid, field), truth(folder / "sum.safetensors", field)
    with Served(lano, f"grid={file}") as s:
        load = Load(s, 4)
        wait_for(lambda: len(load.answers) > 20)

        def replace(by):
            shutil.copy(by, folder / "new")
            os.replace(folder / "new", file)

        replace(folder / "sum.safetensors")
        wait_for(lambda: s.get("/v1/models/grid").json["revision"] == 2)
        (folder / "junk").write_bytes(grid.read_bytes()[:500])
        replace(folder / "junk")
        wait_for(lambda: s.metric("lano_failed_reloads_total") == 1)
        assert numpy.array_equal(from_npy(s.predict("grid", npy(field), "application/x-npy", "?answer=npy").body),
            second)
        file.unlink()
        time.sleep(1.2)
        assert s.predict("grid", npy(field), "application/x-npy").status == 200
        load.end()
        assert not load.lost, load.lost
        assert all(status == 200 for status, _ in load.answers)
        seen = {body for _, body in load.answers}
        wanted = {npy(first)[-first.nbytes:], npy(second)[-second.nbytes:]}
        assert {body[-first.nbytes:] for body in seen} == wanted, "an answer that is neither model's"


def ended_under_load():
    """kill -TERM: what was accepted is answered, then the program ends with 0."""
    with Served(lano, grid) as s:
        load = Load(s, 16)
        wait_for(lambda: len(load.answers) > 50)
        idle = s.connect()
        s.process.send_signal(signal.SIGTERM)
        load.end()
        s.process.wait(30)
        assert not load.lost, load.lost
        assert all(status == 200 for status, _ in load.answers)
        assert s.process.returncode == 0
        idle.close()


for part in (together, beyond_the_queue, limits, tokens, changed_file, ended_under_load, slow_clients):
    start = time.time()
    part()
    print(f"{part.__name__}: {time.time() - start:.1f} s")
