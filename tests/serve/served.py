"""A `lano serve` for a test: started on a free port, asked over bare sockets, ended and looked at."""
import json
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

import numpy


class Served:
    def __init__(self, lano, *words):
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self.process = subprocess.Popen([str(lano), "serve", "--port", "0", *map(str, words)],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.lines = []
        line = self.process.stdout.readline()
        found = re.search(r"http://(\S+):(\d+)/", line)
        if not found:
            self.process.wait(10)
            raise RuntimeError(f"no server: {line!r} {self.said()}")
        self.port = int(found[2])
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        if failure[0] is None:
            assert self.process.returncode == 0, f"the server ended with {self.process.returncode}: {self.said()}"

    def said(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()[-4000:]

    def connect(self, seconds=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def raw(self, data, seconds=60):
        """Sends bytes as they are; the answer, or None where the connection is closed without one."""
        with self.connect(seconds) as s:
            try:
                s.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_answer(s)

    def ask(self, method, path, body=b"", type="application/json", headers=None):
        with self.connect() as s:
            s.sendall(request(method, path, body, type, headers))
            return read_answer(s, method == "HEAD")

    def get(self, path):
        return self.ask("GET", path)

    def predict(self, model, body, type="application/json", query=""):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return self.ask("POST", f"/v1/models/{model}/predict{query}", body, type)

    def metric(self, name):
        text = self.get("/metrics").body.decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)[1])


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def message(self):
        return self.json["error"]["message"]


def request(method, path, body=b"", type="application/json", headers=None):
    head = {"Host": "localhost", "Connection": "keep-alive", **(headers or {})}
    if body or method == "POST":
        head = {"Content-Type": type, "Content-Length": str(len(body)), **head}
    lines = [f"{method} {path} HTTP/1.1"] + [f"{k}: {v}" for k, v in head.items() if v is not None]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def read_answer(s, head_only=False):
    """One answer and no byte of the next; None where the connection is closed."""
    size = -1
    while size < 0:
        try:
            seen = s.recv(65536, socket.MSG_PEEK)
        except ConnectionResetError:
            return None
        size = seen.find(b"\r\n\r\n")
        if not seen:
            return None
        if size < 0:
            time.sleep(0.001)
    lines = s.recv(size + 4, socket.MSG_WAITALL).decode("latin1").rstrip().split("\r\n")
    status = int(lines[0].split()[1])
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
    length = 0 if head_only else int(headers.get("content-length", 0))
    body = b""
    while len(body) < length:
        piece = s.recv(length - len(body), socket.MSG_WAITALL)
        assert piece, "the answer broke off"
        body += piece
    return Answer(status, headers, body)


def npy(array):
    import io
    to = io.BytesIO()
    numpy.save(to, numpy.asarray(array, dtype=numpy.float32))
    return to.getvalue()


def from_npy(body):
    import io
    return numpy.load(io.BytesIO(body))


def wait_for(what, seconds=20):
    end = time.time() + seconds
    while not what():
        assert time.time() < end, "waited too long"
        time.sleep(0.02)
