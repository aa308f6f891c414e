"""Whether PyTorch and ONNX Runtime compute from exported files what the network computed that they were exported from.

	make test-pytorch PYTHON=/path/to/bin/python     # with torch, onnx, onnxruntime and safetensors

The test leaves a folder for each network, with

	case.json            the network's configuration, as a checkpoint has it, and whether networks.py can be that network
	data.safetensors     images [B, C, H, W] and the logits [B, classes] of the frozen network
	net.onnx             the network
	state.safetensors    its state dictionary

and gets for each a line of JSON: how far the logits of both are apart from those at most, or null. Where networks.py
can be the network, another one with random parameters is left in made.safetensors (its state dictionary) and
made-logits.safetensors (its logits for the same images), for the way back.
"""

import json
import math
import pathlib
import sys

import onnx
import onnxruntime
import torch
from safetensors.torch import load_file, save_file

import networks


def middle(self, sets):
    """The elements of a frozen network: in the middle of equal parts of the circle, or of the learned interval."""
    partial = self.theta is not None
    theta = self.theta.double() if partial else torch.ones(1, dtype=torch.float64)
    n = max(1, min(self.count, math.ceil(self.count * abs(theta.item()))))
    angles = 2 * math.pi * (torch.arange(n, dtype=torch.float64) + 0.5) / n
    return networks.Drawn((theta * (angles - math.pi) if partial else angles).expand(sets, n))


networks.Elements.draw = middle


def build(c):
    kind = {"CKResNet": networks.CKResNet, "GCNN": networks.CNN13}[c["type"]]
    options = dict(
        channels=c["channels"], classes=c["classes"], width=c["width"], factors=c["factors"], pools=c["pools"],
        side=c["kernel_side"], hidden=c["kernel_hidden"], layers=c["kernel_layers"], omega0=c["omega0"],
        elements=c["elements"], partial=c["partial"], per_element=False)
    if kind is networks.CNN13:
        options.update(dropouts=[], dropout=0.0)
    return kind(**options).eval()


def convolution(name, conv, axes, theta=None):
    """Pairs of a name and shape in the published program's state dictionary, and the tensor of networks.py there."""
    if conv.bias is not None:
        yield name + ".bias", (1, conv.cout), conv.bias
    yield name + ".group.gumbel_iter_counter", (1,), torch.zeros(1)
    for i, (w, b) in enumerate(zip(conv.net.weights, conv.net.biases)):
        linear = "%s.kernelnet.kernel_net.%d" % (name, 2 * i)
        yield linear + ".weight", (*w.shape, *[1] * axes), w
        yield linear + ".bias", b.shape[:1], b
        if i + 1 < len(conv.net.weights):
            yield linear + ".omega_0", (1,), torch.tensor([float(conv.net.omega0)])
    if axes == 3:
        yield name + ".probs", (1,), torch.ones(1) if theta is None else theta


def normalisation(name, norm):
    for key, value in norm.norm.state_dict(keep_vars=True).items():
        yield name + ".module." + key, value.shape, value


def residual(net):
    yield from convolution("lift_conv", net.lift, 2)
    yield from normalisation("lift_norm", net.lift_norm)
    for i, (block, samplers) in enumerate(zip(net.blocks, net.samplers)):
        name = "blocks.%d." % i
        yield from convolution(name + "gconv1", block["conv1"], 3, samplers[0].theta)
        yield from convolution(name + "gconv2", block["conv2"], 3, samplers[1].theta)
        yield from normalisation(name + "norm_out", block["norm"])
        yield from convolution(name + "shortcut.0", block["shortcut"], 1)
    yield from convolution("last_gconv", net.last, 3, net.last_sampler.theta)
    yield from normalisation("last_gconv_norm", net.last_norm)
    yield "out_layer.weight", (*net.head.weight.shape, 1, 1), net.head.weight
    yield "out_layer.bias", net.head.bias.shape, net.head.bias


def chain(net):
    yield from convolution("lift_conv", net.lift, 2)
    yield from normalisation("lift_norm", net.lift_norm)
    number = 0  # pools count as blocks
    for i, (conv, norm, sampler) in enumerate(zip(net.convs, net.norms, net.samplers)):
        yield from convolution("blocks.%d.conv" % number, conv, 3, sampler.theta)
        yield from normalisation("blocks.%d.norm" % number, norm)
        number += 2 if i + 1 in net.pools else 1
    yield "last_layer.weight", net.head.weight.shape, net.head.weight
    yield "last_layer.bias", net.head.bias.shape, net.head.bias


def table(net):
    return (residual if isinstance(net, networks.CKResNet) else chain)(net)


def load(net, state):
    state = dict(state)
    for name, shape, to in table(net):
        value = state.pop(name)
        if value.shape != torch.Size(shape):
            raise ValueError("%s has shape %s, want %s" % (name, tuple(value.shape), tuple(shape)))
        to.copy_(value.view(to.shape))
        if name.endswith("omega_0") and value.item() != to.item():
            raise ValueError("%s is %g" % (name, value.item()))
    if state:
        raise ValueError("the state dictionary has %s besides" % sorted(state))


def scatter(net):
    """Gives every parameter and statistic a value of its own."""
    for name, p in [*net.named_parameters(), *net.named_buffers()]:
        if name.startswith("thetas"):
            p.uniform_(0.3, 1)
        elif name.endswith("running_var") or name.endswith("norm.weight"):
            p.uniform_(0.5, 1.5)
        elif name.endswith("num_batches_tracked"):
            p.fill_(7)
        elif "bias" in name or name.endswith("running_mean"):
            p.uniform_(-0.2, 0.2)


def infer(path, images):
    """The logits of the whole batch, and how far those of its first image alone are from them."""
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    logits, alone = (torch.from_numpy(session.run(["logits"], {"images": x.numpy()})[0]) for x in (images, images[:1]))
    return logits, (logits[:1] - alone).abs().max().item()


def check(folder):
    case = json.loads((folder / "case.json").read_text())
    data = load_file(folder / "data.safetensors")
    logits, alone = infer(folder / "net.onnx", data["images"])
    answer = {"case": folder.name, "onnx": max(alone, (logits - data["logits"]).abs().max().item()), "torch": None}
    if case["pytorch"]:
        net = build(case["network"])
        with torch.no_grad():
            load(net, load_file(folder / "state.safetensors"))
            answer["torch"] = (net(data["images"]) - data["logits"]).abs().max().item()
            scatter(net)
            save_file({name: to.detach().reshape(shape).clone() for name, shape, to in table(net)}, folder / "made.safetensors")
            save_file({"logits": net(data["images"])}, folder / "made-logits.safetensors")
    print(json.dumps(answer), flush=True)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        check(folder)


if __name__ == "__main__":
    main()
