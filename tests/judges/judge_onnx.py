# Gives ONNX files of rota to onnx's checker and to onnxruntime, and compares the results with
# rota's own. Usage: judge_onnx.py PROGRAM FOLDER EXPORT
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-4


def run(path, images):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape[0] == "batch", session.get_inputs()[0].shape
    name = session.get_inputs()[0].name
    # The images go in two batches of different sizes, because the graph allows any size.
    return np.concatenate([session.run(None, {name: part})[0]
                           for part in (images[:37], images[37:])])


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def judge(folder):
    shape = [int(side) for side in (folder / "shape.txt").read_text().split()]
    images = np.fromfile(folder / "images.u8", np.uint8).reshape(-1, *shape)
    ours = np.fromfile(folder / "logits.f32", np.float32).reshape(len(images), -1)
    assert len(np.unique(ours.argmax(axis=1))) > 1, "every image has the same class"
    for name in ("model.onnx", "bytes.onnx"):
        model = onnx.load(folder / name)
        onnx.checker.check_model(model, full_check=True)
        assert model.ir_version == 8 and model.opset_import[0].version == 17
    facts = {fact.key: fact.value for fact in onnx.load(folder / "model.onnx").metadata_props}
    assert facts["step"] == "7" and facts["run"] == "cd34", facts
    assert facts["data_digest"] == "ab12", facts
    assert len(facts["weights_hash"]) == 16, facts
    theirs = run(folder / "model.onnx", images.astype(np.float32) / np.float32(255))
    probabilities = run(folder / "bytes.onnx", images)
    assert theirs.shape == ours.shape == probabilities.shape
    farthest = np.abs(theirs - ours).max()
    print(f"{folder.name}: {len(images)} images, logits up to {np.abs(ours).max():.1f}, "
          f"farthest {farthest:.1e}")
    assert farthest < TOLERANCE
    assert np.abs(probabilities - softmax(ours)).max() < TOLERANCE
    same = theirs.argmax(axis=1) == ours.argmax(axis=1)
    assert same.all(), f"{(~same).sum()} of {len(images)} images have another class"
    same = probabilities.argmax(axis=1) == ours.argmax(axis=1)
    assert same.all(), f"{(~same).sum()} of {len(images)} images have another class, from bytes"


def judge_handwritten(folder):
    """The graph on the page docs/guide/results.md."""
    program = pathlib.Path(sys.argv[1]).with_name("docs_publish")
    subprocess.run([program], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    path = folder / "models" / "1" / "model.onnx"
    onnx.checker.check_model(onnx.load(path), full_check=True)
    x = np.linspace(-2, 2, 50, dtype=np.float32).reshape(-1, 1)
    y = np.tanh(x * np.float32([3, -2]) + np.float32([-1, 0.5]))
    assert np.abs(run(path, x) - y).max() < TOLERANCE


def judge_stranger(folder):
    """The network of examples/your_own_model, which computes with doubles."""
    folder.mkdir()
    subprocess.run([sys.argv[3]], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    subprocess.run([sys.argv[1], folder], check=True)
    path = folder / "models" / "1" / "model.onnx"
    onnx.checker.check_model(onnx.load(path), full_check=True)
    points = np.fromfile(folder / "points.f32", np.float32).reshape(-1, 2)
    ours = np.fromfile(folder / "inside.f64", np.float64).reshape(-1, 1)
    theirs = run(path, points)
    assert theirs.shape == ours.shape and theirs.dtype == np.float32
    assert 100 < (ours > 0.5).sum() < len(ours) - 100, "nearly every point has the same class"
    assert np.abs(theirs - ours).max() < TOLERANCE
    sure = np.abs(ours - 0.5) > TOLERANCE
    assert ((theirs > 0.5) == (ours > 0.5))[sure].all()


folder = pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
subprocess.run([sys.argv[1], folder, "examples/mnist/data"], check=True)
folders = sorted(path.parent for path in folder.glob("*/model.onnx"))
assert len(folders) == 8, folders
for each in folders:
    judge(each)
judge_handwritten(folder)
judge_stranger(folder / "stranger")
