"""The HTTP interface against its description and against `lano predict`.
Usage: api_test.py LANO MADE_MODELS"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy

from schema import faults, is_a, resolve
from served import Served, from_npy, npy

lano, made_models = sys.argv[1:3]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
subprocess.run([made_models, folder], check=True)
answered = {}  # (path, method, status) of the description -> how often


def by_lano(model, *words):
    out = folder / "predicted.npy"
    subprocess.run([lano, "predict", folder / f"{model}.safetensors", "--out", out, "--force", *map(str, words)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return numpy.load(out)


def checked(api, path, method, answer):
    """An answer against the description of its path."""
    described = api["paths"][path][method.lower()]
    status = str(answer.status)
    assert status in described["responses"], f"{method} {path}: {status} is not described: {answer.body[:200]}"
    response = resolve(described["responses"][status], api)
    kind = answer.headers["content-type"].split(";")[0]
    assert kind in response["content"], f"{method} {path}: {kind} is not described"
    if kind == "application/json":
        found = faults(answer.json, response["content"][kind]["schema"], api)
        assert not found, found
    if int(status) >= 400:
        assert answer.json["error"]["status"] == answer.status
        # Both forms of core/error.h: "<doing>: expected ..., found ..." or "<doing>: <problem>".
        assert ": " in answer.message, answer.message
        assert (": expected " in answer.message) == (", found " in answer.message), answer.message
    answered[path, method, status] = answered.get((path, method, status), 0) + 1
    return answer


def every_path(s, api):
    for path, item in api["paths"].items():
        for method in ("get", "post"):
            if method not in item:
                assert checked(api, path, next(m for m in ("get", "post") if m in item), s.ask(method.upper(),
                               path.replace("{name}", "grid").replace("{number}", "0"), b"{}")).status == 405, path
        if "get" in item:
            here = path.replace("{name}", "grid").replace("{number}", "0")
            whole = checked(api, path, "GET", s.get(here))
            assert whole.status == 200, (path, whole.body)
            head = s.ask("HEAD", here)
            assert head.status == 200 and head.body == b"", path
            assert checked(api, path, "GET", s.ask("GET", here, headers={"Host": "evil.example"})).status == 403
        if "{name}" in path:
            method = "POST" if "post" in item else "GET"
            other = path.replace("{name}", "nobody").replace("{number}", "0")
            assert checked(api, path, method, s.ask(method, other, b"{}" if method == "POST" else b"")).status == 404
    assert s.get("/v1/nothing").status == 404
    assert checked(api, "/v1/models/{name}/samples/{number}", "GET", s.get("/v1/models/grid/samples/99")).status == 404
    assert checked(api, "/v1/models/{name}/grid", "GET", s.get("/v1/models/cloud/grid")).status == 404


def predictions(s, api, loaded):
    """Each kind of model, each form of body and answer, one sample and many, against the command."""
    path = "/v1/models/{name}/predict"
    for model in loaded:
        about = s.get(f"/v1/models/{model}").json
        sample = s.get(f"/v1/models/{model}/samples/1")
        assert sample.status == 200, (model, sample.body)
        sample = checked(api, "/v1/models/{name}/samples/{number}", "GET", sample).json
        body = {key: sample[key] for key in ("input", "coordinates", "state") if key in sample}
        want = by_lano(model, "--data", folder / f"{model}.h5", "--sample", 1)[0]
        got = checked(api, path, "POST", s.predict(model, body))
        assert got.status == 200, (model, got.body)
        values = numpy.array(got.json["output"], dtype=numpy.float32)
        assert list(values.shape) == got.json["shape"] == list(want.shape), (model, values.shape, want.shape)
        # The command predicts all samples of a set in one pass, the server this one: the same bits.
        assert numpy.array_equal(values, want), (model, abs(values - want).max())
        for form in ("npy", "npz"):
            other = s.predict(model, body, query=f"?answer={form}")
            assert other.headers["content-type"] == f"application/x-{form}"
            if form == "npz":
                (folder / "got.npz").write_bytes(other.body)
                other = numpy.load(folder / "got.npz")["output"]
            else:
                other = from_npy(other.body)
            assert numpy.array_equal(other, values), (model, form)
        numpy.savez_compressed(folder / "asked.npz", **{k: numpy.float32(v) for k, v in body.items()})
        zipped = s.predict(model, (folder / "asked.npz").read_bytes(), "application/x-npz")
        assert zipped.body.split(b'"output"')[1] == got.body.split(b'"output"')[1], model
        if len(body) == 1:
            lone = s.predict(model, npy(next(iter(body.values()))), "application/x-npy", "?answer=npy")
            assert numpy.array_equal(from_npy(lone.body), values), model
        many = {key: [value, value, value] for key, value in body.items()}
        several = s.predict(model, many)
        assert several.status == 200, (model, several.body)
        assert numpy.array_equal(numpy.float32(several.json["output"]), numpy.stack([values] * 3)), model
        if about["task"] == "time_conditional":
            times = [0.3, 1.7]
            want = by_lano(model, "--data", folder / f"{model}.h5", "--sample", 1, "--times", "0.3,1.7")[0]
            timed = s.predict(model, {**body, "times": times}).json
            assert timed["times"] == times and numpy.array_equal(numpy.float32(timed["output"]), want)
        if about["task"] == "autoregressive":
            want = by_lano(model, "--data", folder / f"{model}.h5", "--sample", 1, "--steps", 4)[0]
            stepped = s.predict(model, body, query="?steps=4&answer=npy")
            assert stepped.status == 200 and numpy.array_equal(from_npy(stepped.body)[-4:], want[-4:]), model


def other_resolutions(s):
    """A grid of other extents lies in the same domain: what `lano predict` gives with its coordinates."""
    asked = numpy.load(folder / "cells_smaller.input.npy")[0].reshape(18, 24)
    at = numpy.load(folder / "cells_smaller.coordinates.npy")
    numpy.save(folder / "a.npy", asked)
    numpy.save(folder / "x.npy", at[0].reshape(18, 24, 2) if at.ndim == 3 else at.reshape(18, 24, 2))
    want = by_lano("cells", "--input", folder / "a.npy", "--coords", folder / "x.npy")[0]
    got = from_npy(s.predict("cells", npy(asked), "application/x-npy", "?answer=npy").body)
    assert got.shape == want.shape and abs(got - want).max() < 1e-5 * abs(want).max(), abs(got - want).max()


def refusals(s, api):
    path = "/v1/models/{name}/predict"
    ok = {"input": numpy.zeros((12, 10)).tolist()}
    cases = [
        (400, b"{", "application/json"), (400, b"", "application/json"), (400, b"[1]", "application/json"),
        (400, b'{"input": [1, NaN]}', "application/json"), (400, b'"a"', "application/json"),
        (415, b"a=1", "application/x-www-form-urlencoded"), (415, b"{}", "text/plain"),
        (422, b"{}", "application/json"), (422, b'{"inputs": [1]}', "application/json"),
        (422, b'{"input": [[1, 2], [3]]}', "application/json"), (422, b'{"input": [1, [2]]}', "application/json"),
        (422, b'{"input": [[1], 2]}', "application/json"), (422, b'{"input": []}', "application/json"),
        (422, b'{"input": "x"}', "application/json"), (422, b'{"input": [null]}', "application/json"),
        (422, b'{"input": [1e39]}', "application/json"), (422, b'{"input": {"a": 1}}', "application/json"),
        (422, b'{"input": [[1]], "input": [[1]]}', "application/json"),
        (422, b'{"input": [[[1,2],[3,4]]], "state": [1]}', "application/json"),
        (422, b'{"input": [[1,2],[3,4]], "steps": 3}', "application/json"),
        (422, b'{"input": [[1,2],[3,4]], "times": [3]}', "application/json"),
        (422, b'{"input": [[1,2],[3,4]], "answer": "xml"}', "application/json"),
        (422, b'{"input": [[1,2],[3,4]], "coordinates": [[1]]}', "application/json"),
        (400, b"\x93NUMPY", "application/x-npy"), (400, npy([[1.0]])[:-1], "application/x-npy"),
        (422, npy([[numpy.nan] * 10] * 12), "application/x-npy"), (400, b"PK\x03\x04", "application/x-npz"),
    ]
    for status, body, kind in cases:
        got = checked(api, path, "POST", s.predict("grid", body, kind))
        assert got.status == status, (body[:60], got.status, got.body)
    good = numpy.float32(numpy.zeros((12, 10))).tolist()
    assert s.predict("grid", {"input": good}).status == 200
    assert checked(api, path, "POST", s.predict("grid", ok, query="?answer=doc")).status == 422
    assert checked(api, path, "POST", s.predict("grid", ok, query="?colour=red")).status == 422
    assert checked(api, path, "POST", s.ask("POST", "/v1/models/grid/predict", b"{}", headers={"Accept": "text/html"}
                                            )).status in (406, 422)
    solve = "/v1/models/{name}/solve"
    assert checked(api, solve, "POST", s.ask("POST", "/v1/models/grid/solve", b"{}")).status == 422


def exact(api):
    """A real problem: the solver's answer is the dataset's truth."""
    data = folder / "darcy.h5"
    subprocess.run([lano, "generate", "darcy", "--resolution", "21", "--stride", "1", "--train", "12", "--test", "2",
                    "--out", data], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([lano, "train", "--data", data, "--out", folder / "run", "--set", "train.epochs=1",
                    "--set", "model.layers=1", "--set", "model.width=8", "--set", "model.agents=9",
                    "--set", "model.heads=2"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with Served(lano, f"d={folder / 'run' / 'model.safetensors'}", "--data", data) as s:
        about = checked(api, "/v1/models/{name}", "GET", s.get("/v1/models/d")).json
        assert about["solver"] == "input" and about["test_samples"] == 2 and about["problem"]["kind"] == "darcy"
        assert about["training"]["validation_l2"] > 0
        sample = s.get("/v1/models/d/samples/0").json
        answer = s.ask("POST", "/v1/models/d/solve", __import__("json").dumps({"input": sample["input"]}).encode())
        solved = checked(api, "/v1/models/{name}/solve", "POST", answer).json
        truth, got = numpy.array(sample["output"]), numpy.array(solved["output"])
        assert got.shape == truth.shape and abs(got - truth).max() < 1e-5 * abs(truth).max()
        bad = s.ask("POST", "/v1/models/d/solve", b'{"input": [[1, 2]]}')
        assert checked(api, "/v1/models/{name}/solve", "POST", bad).status == 422


models = ["grid", "cells", "mesh", "line", "space", "torus", "cloud", "cloud_in_space"]
for path in sorted(folder.glob("*.safetensors")):
    head = path.read_bytes()[:6000].replace(b"\\", b"")
    if b'"task":"autoregressive"' in head or b'"task":"time_conditional"' in head:
        models.append(path.stem)
words = [f"{folder / m}.safetensors" for m in models]
# All made sets have the same name: each model needs a server with its own data.
for model, word in zip(models, words):
    with Served(lano, word, "--data", folder / f"{model}.h5") as s:
        api = s.get("/v1/openapi.json").json
        predictions(s, api, [model])
with Served(lano, *words, "--data", folder / "grid.h5") as s:
    every_path(s, api)
    other_resolutions(s)
    refusals(s, api)
    names = [m["name"] for m in s.get("/v1/models").json["models"]]
    assert names == models, names
exact(api)
unseen = [(path, method) for path, item in api["paths"].items() for method in ("get", "post")
          if method in item and (path, method.upper(), "200") not in answered]
assert not unseen, f"described, and never answered: {unseen}"
print(f"{len(answered)} answers of the description seen: " +
      ", ".join(sorted({f"{status}" for _, _, status in answered})))
