"""Hostile requests: each has a status and a sentence or a closed connection, and the server goes on as before.
Usage: hostile_test.py LANO MADE_MODELS [random requests]"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy

from served import Served, npy, read_answer, request, wait_for

lano, made_models = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 300
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
subprocess.run([made_models, folder], check=True)
P = "/v1/models/grid/predict"
field = numpy.ones((12, 10, 1), dtype=numpy.float32)
good = json.dumps({"input": field.tolist()}).encode()


def refused(answer, *statuses):
    """An answer with one of these statuses and a sentence; a script in it cannot run."""
    assert answer is not None, "closed without an answer"
    assert answer.status in statuses, (answer.status, answer.body[:300])
    assert ": " in answer.message and b"<" not in answer.body, answer.body
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def head(*lines):
    return "\r\n".join((f"POST {P} HTTP/1.1", "Host: localhost",
        "Content-Type: application/json") + lines).encode() + \
        b"\r\n\r\n"


def wire(s):
    refused(s.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20), 400)  # TLS
    refused(s.raw(b"GET /\r\n\r\n"), 400)
    refused(s.raw(b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"), 400)
    refused(s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n"), 400)
    refused(s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 10000 + b"\r\n"), 431)
    refused(s.raw(b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 431)
    refused(s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a" * 20000 + b"\r\n\r\n"), 431)
    refused(s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"), 400)
    refused(s.raw(b"GET / HTTP/1.1\r\n\r\n"), 403)  # no Host at all
    refused(s.raw(head("Content-Length: -1")), 400)
    refused(s.raw(head("Content-Length: 1", "Content-Length: 2") + b"{}"), 400)
    refused(s.raw(head("Content-Length: 99999999999999999999999")), 400)
    refused(s.raw(head("Content-Length: 999999999999")), 413)
    refused(s.raw(head("Content-Length: 999999999999", "Expect: 100-continue")), 413)
    refused(s.raw(head("Content-Length: 2", "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n"), 400)
    refused(s.raw(head("Transfer-Encoding: gzip") + b"{}"), 400)
    refused(s.raw(head("Transfer-Encoding: chunked") + b"xyz\r\n{}\r\n0\r\n\r\n"), 400)
    refused(s.raw(head("Transfer-Encoding: chunked") + b"ffffffffffffffffffff\r\n{}"), 400)
    refused(s.raw(head("Transfer-Encoding: chunked") + b"2\r\n{}{}\r\n0\r\n\r\n"), 400)
    refused(s.raw(head("Content-Encoding: gzip", "Content-Length: 2") + b"{}"), 415)
    refused(s.raw(b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400, 405)
    refused(s.raw(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400, 404)
    refused(s.raw(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400)
    for path in ("/../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/page.js/../../x", "/%2e%2e/x",
                 "/v1/models/../../etc/passwd", "/v1/models/grid%00/predict", "/v1/models//predict", "/page.css%00",
                 "/v1/models/grid/samples/-1", "/v1/models/grid/samples/1e9", "/v1/models/%3Cscript%3E"):
        refused(s.get(path), 400, 404)
    refused(s.get("/v1/models/<script>alert(1)</script>"), 404)
    # Chunks as they should be, and a promise kept.
    ok = s.raw(head("Transfer-Encoding: chunked") + b"%x\r\n" % len(good) + good + b"\r\n0\r\n\r\n")
    assert ok.status == 200, ok.body
    with s.connect() as c:
        c.sendall(head(f"Content-Length: {len(good)}", "Expect: 100-continue"))
        assert read_answer(c).status == 100
        c.sendall(good)
        assert read_answer(c).status == 200
    # Two requests in one packet are answered in turn.
    with s.connect() as c:
        c.sendall(request("GET", "/healthz") + request("POST", P, good))
        assert read_answer(c).status == 200
        assert "output" in read_answer(c).json


def bodies(s):
    refused(s.predict("grid", b"[" * 1000000), 400)
    refused(s.predict("grid", b'{"input":' + b"[" * 500000), 400)
    refused(s.predict("grid", b'{"input":[' + b"1," * 3000000 + b"1]}"), 422)
    refused(s.predict("grid", b'{"' + b"a" * 100000 + b'":1}'), 422)
    refused(s.predict("grid", b'{"<script>alert(1)</script>":1}'), 422)
    refused(s.predict("grid", b'{"input\xff\xfe":1}'), 400)
    refused(s.predict("grid", b'{"input":[1' + b"0" * 100000 + b"]}"), 400, 422)
    refused(s.predict("grid", b" " * (17 << 20)), 413)
    refused(s.predict("grid", b"\x93NUMPY\x01\x00\xff\xff", "application/x-npy"), 400)
    huge = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 16), }".ljust(117) + b"\n"
    refused(s.predict("grid", b"\x93NUMPY\x01\x00" + len(huge).to_bytes(2, "little") + huge, "application/x-npy"), 400)
    many = b"{'descr': '|b1', 'fortran_order': False, 'shape': (9000000,), }".ljust(117) + b"\n"
    refused(s.predict("grid", b"\x93NUMPY\x01\x00" + len(many).to_bytes(2, "little") + many + bytes(9000000),
                      "application/x-npy"), 422)
    # A zip that unpacks to a thousand times its size.
    bomb = folder / "bomb.npz"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("input.npy", npy(numpy.zeros(200_000_00 // 2)))
    refused(s.predict("grid", bomb.read_bytes(), "application/x-npz"), 400, 422)
    with zipfile.ZipFile(bomb, "w") as z:
        for i in range(100):
            z.writestr(f"{i}.npy", npy([1.0]))
    refused(s.predict("grid", bomb.read_bytes(), "application/x-npz"), 400, 422)
    with zipfile.ZipFile(bomb, "w") as z:
        z.writestr("../../input.npy", npy(field))
    refused(s.predict("grid", bomb.read_bytes(), "application/x-npz"), 400, 422)
    # Numbers that no network survives are refused, or give a finite answer.
    wild = s.predict("grid", {"input": (field * 3e38).tolist()})
    assert wild.status in (200, 422) and b"nan" not in wild.body.lower(), wild.body[:200]
    # The claims of a small body: many steps, many times.
    refused(s.predict("autoregressive", {"input": field.tolist(), "state": numpy.ones((12, 10, 2)).tolist(),
                                         "steps": 1e9}), 422)
    refused(s.predict("autoregressive", {"input": field.tolist(), "state": numpy.ones((12, 10, 2)).tolist(),
                                         "steps": 0.5}), 422)
    # Coordinates in one place, and far away.
    for at in (0.0, 1e30):
        got = s.predict("cloud", {"input": numpy.ones((40, 2)).tolist(), "coordinates": numpy.full((40, 2),
            at).tolist()})
        assert got.status in (200, 422) and b"nan" not in got.body.lower(), got.body[:200]


def strangers(s):
    """Pages of other sites: a foreign Origin, a name that was made to point here, a form."""
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                    {"Host": "localhost.evil.example"}, {"Host": f"evil.example:{s.port}"},
                    {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://localhost:1"}):
        refused(s.ask("POST", P, good, headers=headers), 403)
        refused(s.ask("GET", "/v1/models", headers=headers), 403)
    ours = f"localhost:{s.port}"
    answer = s.ask("POST", P, good, headers={"Host": ours, "Origin": f"http://{ours}",
        "Sec-Fetch-Site": "same-origin"})
    assert answer.status == 200 and "access-control-allow-origin" not in answer.headers
    page = s.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]


def noise(s):
    """Good requests with random damage: never a crash, an answer or a closed connection at once."""
    random.seed(22)
    whole = [request("POST", P, good, headers={"Connection": "close"}),
             request("POST", P, npy(field), "application/x-npy", {"Connection": "close"}),
             request("GET", "/v1/models", headers={"Connection": "close"}),
             head("Transfer-Encoding: chunked") + b"%x\r\n" % len(good) + good + b"\r\n0\r\n\r\n"]
    for _ in range(rounds):
        data = bytearray(random.choice(whole))
        for _ in range(random.choice((1, 1, 3, 10))):
            at = random.randrange(len(data)) if random.random() < 0.3 else random.randrange(min(len(data), 300))
            what = random.random()
            if what < 0.5:
                data[at] = random.randrange(256)
            elif what < 0.75:
                del data[at:at + random.choice((1, 2, 50))]
            else:
                data[at:at] = bytes(random.choices(b"0123456789[]{},:\r\n \"%\x00\xff", k=random.choice((1, 5))))
        with s.connect() as c:
            c.sendall(data)
            c.shutdown(1)
            answer = read_answer(c)
        assert answer is None or 200 <= answer.status < 500, (bytes(data), answer.status, answer.body[:300])


names = ["grid", "cloud", "autoregressive"]
with Served(lano, *(folder / f"{n}.safetensors" for n in names)) as s:
    start = time.time()
    before = s.predict("grid", good).json["output"]
    for part in (wire, bodies, strangers, noise):
        part(s)
        assert s.predict("grid", good).json["output"] == before, part
        print(f"{part.__name__}: {time.time() - start:.1f} s")
    # A thread lets go of an answer a moment after the client has it.
    wait_for(lambda: s.metric("lano_held_bytes") == 0 and s.metric("lano_waiting") == 0)
