"""Partial group-equivariant networks for PyTorch: the rival of the training-step and inference benchmarks.

Written from the paper (Romero and Lohit, "Learning Partial Equivariances from Data", NeurIPS 2022). Kernels are
rendered by a SIREN in every pass and used in dense convolutions, as the paper's program does. What that program does
to a layout only for the sake of its own code is left out here, so that the rival is no slower than it has to be.

Feature maps are [B, C*n, H, W], channel-major, which is what a convolution writes: no map is ever transposed.
Groups are "SE(2)", "E(2)", "mirror" and "Sim(2)". Elements are an angle, a sign, -1 for those that mirror first, and the
logarithm of a factor, each [S, n] in float64, or None where the group has none; S is 1, or B where every image has
elements of its own.
"""

import math
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import nn


class Siren(nn.Module):
    """Coordinates [dims, positions] -> values [out, positions]."""

    def __init__(self, dims, out, hidden, layers, omega0):
        super().__init__()
        widths = [dims] + [hidden] * (layers - 1) + [out]
        self.omega0 = omega0
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for i, (a, b) in enumerate(zip(widths, widths[1:])):
            bound = 1 / a if i == 0 else math.sqrt(6 / a) / omega0
            self.weights.append(nn.Parameter(torch.empty(b, a).uniform_(-bound, bound)))
            self.biases.append(nn.Parameter(torch.zeros(b, 1)))

    def forward(self, x):
        last = len(self.weights) - 1
        for i, (w, b) in enumerate(zip(self.weights, self.biases)):
            x = torch.addmm(b, w, x)
            if i < last:
                x = torch.sin(self.omega0 * x)
        return x


class Drawn(NamedTuple):
    """Elements of a group, [S, n] each."""

    angle: Optional[torch.Tensor] = None
    sign: Optional[torch.Tensor] = None
    scale: Optional[torch.Tensor] = None

    @property
    def shape(self):
        return next(x for x in self if x is not None).shape


MOST = math.log(2)  # the factors of Sim(2) lie between 1/2 and 2


def comb(count, theta, sets, extent):
    """A comb over the share theta of [-extent, extent] with a common random shift."""
    n = max(1, min(count, math.ceil(count * abs(theta.item()))))
    u = torch.rand(sets, 1, dtype=torch.float64)
    return theta * (2 * extent * (torch.arange(n, dtype=torch.float64) + u) / n - extent)


class Elements:
    """Draws the elements of one layer: a comb over the learned part of the circle and, in Sim(2), of the factors. Mirrors
    and what they mirror are always kept: what is measured must not depend on the draw."""

    def __init__(self, count, theta=None, group="SE(2)"):
        self.count, self.theta, self.group = count, theta, group
        if group in ("E(2)", "mirror"):
            self.count //= 2
        if group == "Sim(2)":
            self.scales = 2 ** (int(math.log2(count)) // 2)
            self.count //= self.scales
        self.keeps, self.kept = False, None

    def draw(self, sets):
        if not self.keeps:
            return self.fresh(sets)
        if self.kept is None:
            self.kept = self.fresh(sets)
        return self.kept

    def fresh(self, sets):
        if self.group == "mirror":
            return Drawn(sign=torch.tensor([1.0, -1.0], dtype=torch.float64).expand(sets, 2))
        theta = torch.ones(1, dtype=torch.float64) if self.theta is None else self.theta.double()
        angle = comb(self.count, theta, sets, math.pi)
        if self.group == "SE(2)":
            return Drawn(angle)
        if self.group == "Sim(2)":
            scale = comb(self.scales, theta, sets, MOST)
            shape = (sets, angle.shape[1], scale.shape[1])
            return Drawn(angle[:, :, None].expand(shape).flatten(1), None, scale[:, None, :].expand(shape).flatten(1))
        sign = torch.ones_like(angle)
        return Drawn(torch.cat([angle, angle], 1), torch.cat([sign, -sign], 1))


COORDINATES = {"SE(2)": 1, "E(2)": 2, "mirror": 1, "Sim(2)": 2}


class Convolution(nn.Module):
    """A lifting, group (relative=True) or pointwise (side=1) convolution whose kernel is rendered anew each time, or,
    with keeps, once for each layout."""

    def __init__(self, cin, cout, side, relative, hidden, layers, omega0, group="SE(2)", valid=False, bias=True):
        super().__init__()
        self.cin, self.cout, self.side, self.relative = cin, cout, side, relative
        self.padding = 0 if valid else side // 2
        self.spatial = side > 1
        dims = (2 if self.spatial else 0) + (COORDINATES[group] if relative else 0)
        self.net = Siren(dims, cin * cout, hidden, layers, omega0)
        self.bias = nn.Parameter(torch.zeros(cout)) if bias else None
        axis = torch.linspace(-1, 1, side, dtype=torch.float64)
        rows, cols = torch.meshgrid(axis, axis, indexing="ij")
        self.grid = torch.stack([rows.flatten(), cols.flatten()])  # [2, k*k]
        self.keeps, self.kept = False, {}
        self.mask = None
        if self.spatial:
            self.mask = (rows.square() + cols.square() <= 1 + 1e-9).float()

    def coordinates(self, inner, outer):
        """The coordinates [dims, S*n_out*n_in*k*k] of the kernel for elements inner [S, n_in] and outer [S, n_out]."""
        taps = self.side * self.side
        sets, n_out = outer.shape
        n_in = inner.shape[1] if self.relative else 1
        shape = (sets, n_out, n_in, taps)
        parts = []
        if self.spatial:
            for turned in self.moved(outer):
                parts.append(turned[:, :, None, :].expand(shape))
        if self.relative:
            sign = None if outer.sign is None else outer.sign[:, :, None] * inner.sign[:, None, :]
            if outer.angle is not None:
                back = outer.angle[:, :, None] if sign is None else sign * outer.angle[:, :, None]
                angle = torch.remainder(inner.angle[:, None, :] - back, 2 * math.pi) / math.pi - 1
                parts.append(angle[..., None].expand(shape))
            if sign is not None:
                parts.append(sign[..., None].expand(shape))
            if outer.scale is not None:
                scale = (inner.scale[:, None, :] - outer.scale[:, :, None]) / (2 * MOST)
                parts.append(scale[..., None].expand(shape))
        return torch.stack(parts).float().reshape(len(parts), -1), (sets, n_out, n_in)

    def moved(self, outer):
        """The grid moved by the inverses of elements [S, n]: rows and columns, [S, n, k*k] each."""
        if outer.angle is None:
            one = torch.ones_like(outer.sign)
            cos, sin = one, one - 1
        else:
            cos, sin = torch.cos(outer.angle), torch.sin(outer.angle)
        cos2, sin2 = (cos, sin) if outer.sign is None else (outer.sign * cos, outer.sign * sin)
        for a, b in ((cos, -sin2), (sin, cos2)):
            moved = a[..., None] * self.grid[0] + b[..., None] * self.grid[1]
            yield moved if outer.scale is None else torch.exp(-outer.scale)[..., None] * moved

    def render(self, inner, outer):
        """The kernel [S, Cout*n_out, Cin*n_in, k, k]."""
        x, (sets, n_out, n_in) = self.coordinates(inner, outer)
        k = self.side
        w = self.net(x).view(self.cout, self.cin, sets, n_out, n_in, k, k)
        w = w.permute(2, 0, 3, 1, 4, 5, 6)
        if self.mask is not None:
            w = w * self.mask if outer.scale is None else w * self.scaled(outer)
        return w.reshape(sets, self.cout * n_out, self.cin * n_in, k, k)

    def scaled(self, outer):
        """The masks of scaled kernels, times how much smaller their discs get, [S, 1, n, 1, 1, k, k]."""
        rows, cols = self.moved(outer)
        live = (rows.square() + cols.square() <= 1 + 1e-9) * torch.exp(-2 * outer.scale)[..., None]
        return live.float().view(*outer.shape, 1, 1, self.side, self.side).unsqueeze(1)

    def kernel(self, inner, outer, layout):
        """The kernel and the bias, in the layout of the maps where all images share them."""
        if layout in self.kept:
            return self.kept[layout]
        w = self.render(inner, outer)
        sets, n_out = outer.shape
        if sets == 1:
            w = w[0] if layout is None else w[0].contiguous(memory_format=layout)
        bias = None if self.bias is None else self.bias.repeat_interleave(n_out)
        if self.keeps:
            self.kept[layout] = w, bias
        return w, bias

    def forward(self, x, inner, outer, layout):
        w, bias = self.kernel(inner, outer, layout)
        sets, n_out = outer.shape
        if sets == 1:
            if layout is not None:
                x = x.contiguous(memory_format=layout)
            y = F.conv2d(x, w, bias, padding=self.padding)
            return y.contiguous()
        b, c, height, width = x.shape
        y = F.conv2d(x.reshape(1, b * c, height, width), w.flatten(0, 1), None, padding=self.padding, groups=b)
        y = y.view(b, self.cout * n_out, y.shape[2], y.shape[3])
        return y if bias is None else y + bias[:, None, None]


class BatchNorm(nn.Module):
    """Batch normalisation over the batch, the elements and the plane."""

    def __init__(self, channels):
        super().__init__()
        self.channels = channels
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        b, _, h, w = x.shape
        return self.norm(x.view(b, self.channels, -1, w)).view(x.shape)


def standardise(x, channels):
    """Zero mean and unit variance for every image and channel, over the elements and the plane."""
    return F.group_norm(x, channels, eps=1e-5)


class Network(nn.Module):
    """What the networks share: the elements of every layer, and the layout of the maps in a convolution."""

    def __init__(self, elements, partial, per_element, group):
        super().__init__()
        self.elements, self.partial, self.per_element, self.group = elements, partial, per_element, group
        self.thetas = nn.ParameterList()
        self.draws = []
        self.layout = None

    def conv(self, cin, cout, relative=True, **kw):
        return Convolution(cin, cout, kw.pop("side", self.side), relative, kw.pop("hidden", self.hidden),
                           self.layers, self.omega0, self.group, **kw)

    def sampler(self):
        theta = None
        if self.partial:
            theta = nn.Parameter(torch.ones(1))
            self.thetas.append(theta)
        return self.drawn(theta)

    def drawn(self, theta=None):
        self.draws.append(Elements(self.elements, theta, self.group))
        return self.draws[-1]

    def sets(self, x):
        return x.shape[0] if self.per_element else 1

    def keep(self):
        """Draws elements and renders kernels once, for a network that only predicts."""
        for x in [*self.modules(), *self.draws]:
            if isinstance(x, (Convolution, Elements)):
                x.keeps = True


class CKResNet(Network):
    def __init__(self, channels, classes, width, factors, pools, side, hidden, layers, omega0,
                 elements, partial, per_element, group="SE(2)"):
        super().__init__(elements, partial, per_element, group)
        self.side, self.hidden, self.layers, self.omega0 = side, hidden, layers, omega0
        self.pools = pools
        self.first = self.drawn()
        self.lift = self.conv(channels, width, relative=False)
        self.lift_norm = BatchNorm(width)
        self.blocks = nn.ModuleList()
        self.samplers = []
        cin = width
        for f in factors:
            cout = f * width
            block = nn.ModuleDict({"conv1": self.conv(cin, cout), "conv2": self.conv(cout, cout), "norm": BatchNorm(cout)})
            # Elements drawn anew in every layer make the identity impossible as a shortcut.
            block["shortcut"] = self.conv(cin, cout, side=1, hidden=hidden // 2, bias=False)
            self.blocks.append(block)
            self.samplers.append((self.sampler(), self.sampler()))
            cin = cout
        self.last, self.last_norm, self.last_sampler = self.conv(cin, cin, valid=True), BatchNorm(cin), self.sampler()
        self.head = nn.Linear(cin, classes)

    def forward(self, x):
        sets = self.sets(x)
        g = self.first.draw(sets)
        x = self.lift_norm(self.lift(x, g, g, self.layout))
        if 0 in self.pools:
            x = F.max_pool2d(x, 2)
        x = F.relu(x)
        for i, (block, samplers) in enumerate(zip(self.blocks, self.samplers)):
            g1 = samplers[0].draw(sets)
            g2 = samplers[1].draw(sets)
            y = F.relu(standardise(block["conv1"](x, g, g1, self.layout), block["conv1"].cout))
            y = F.relu(standardise(block["conv2"](y, g1, g2, self.layout), block["conv2"].cout))
            x = block["norm"](y + block["shortcut"](x, g, g2, self.layout))
            g = g2
            if i + 1 in self.pools:
                x = F.max_pool2d(x, 2)
            x = F.relu(x)
        last = self.last_sampler.draw(sets)
        x = F.relu(self.last_norm(self.last(x, g, last, self.layout)))
        return self.head(x.view(x.shape[0], self.last.cout, -1).amax(2))


class CNN13(Network):
    """The "13-layer" network: a lifting convolution, then group convolutions with batch normalisation and ReLU."""

    def __init__(self, channels, classes, width, factors, pools, dropouts, dropout, side, hidden, layers, omega0,
                 elements, partial, per_element, group="SE(2)"):
        super().__init__(elements, partial, per_element, group)
        self.side, self.hidden, self.layers, self.omega0 = side, hidden, layers, omega0
        self.pools, self.dropouts, self.dropout = pools, dropouts, dropout
        self.first = self.drawn()
        self.lift, self.lift_norm = self.conv(channels, width, relative=False), BatchNorm(width)
        self.convs, self.norms, self.samplers = nn.ModuleList(), nn.ModuleList(), []
        cin = width
        for f in factors:
            self.convs.append(self.conv(cin, f * width))
            self.norms.append(BatchNorm(f * width))
            self.samplers.append(self.sampler())
            cin = f * width
        self.head = nn.Linear(cin, classes)

    def forward(self, x):
        sets = self.sets(x)
        g = self.first.draw(sets)
        x = F.relu(self.lift_norm(self.lift(x, g, g, self.layout)))
        for i, (conv, norm, sampler) in enumerate(zip(self.convs, self.norms, self.samplers)):
            outer = sampler.draw(sets)
            x = F.relu(norm(conv(x, g, outer, self.layout)))
            g = outer
            if i + 1 in self.pools:
                x = F.max_pool2d(x, 2)
            if i + 1 in self.dropouts and self.dropout > 0:
                b, _, h, w = x.shape
                x = F.dropout2d(x.view(b, conv.cout, -1, w), self.dropout, self.training).view(x.shape)
        return self.head(x.view(x.shape[0], self.convs[-1].cout, -1).mean(2))
