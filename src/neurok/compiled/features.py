"""Features of an object carried by its base: positions, rates, forces and derivatives in the world's frame."""

from __future__ import annotations

import numpy as np

from neurok.compiled.loops import compiled


@compiled
def free_base(pose, center, xi, frames, screws):
    """Transform of a free base ``(B, 4, 4)`` and its screws ``(B, 6, 4, 4)``, written over zeros: shifts along the
    world's axes, then turns about x, y', z'' through its centre."""
    batch = xi.shape[0]
    turn, axes, place = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for b in range(batch):
        cx, cy, cz = np.cos(xi[b, 3]), np.cos(xi[b, 4]), np.cos(xi[b, 5])
        sx, sy, sz = np.sin(xi[b, 3]), np.sin(xi[b, 4]), np.sin(xi[b, 5])
        turn[0, 0], turn[0, 1], turn[0, 2] = cy * cz, -cy * sz, sy
        turn[1, 0], turn[1, 1], turn[1, 2] = cx * sz + sx * sy * cz, cx * cz - sx * sy * sz, -sx * cy
        turn[2, 0], turn[2, 1], turn[2, 2] = sx * sz - cx * sy * cz, sx * cz + cx * sy * sz, cx * cy
        axes[0, 0], axes[0, 1], axes[0, 2] = 1.0, 0.0, 0.0
        axes[1, 0], axes[1, 1], axes[1, 2] = 0.0, cx, sx
        axes[2, 0], axes[2, 1], axes[2, 2] = sy, -sx * cy, cx * cy
        frame = frames[b]
        for i in range(3):
            place[i] = pose[i, 3] + xi[b, i]
            for j in range(3):
                place[i] += pose[i, j] * center[j]
                for k in range(3):
                    frame[i, j] += turn[i, k] * pose[k, j]
        frame[3, 3] = 1.0
        for i in range(3):
            frame[i, 3] = place[i]
            for j in range(3):
                frame[i, 3] -= frame[i, j] * center[j]
            screws[b, i, i, 3] = 1.0
            x, y, z = axes[i, 0], axes[i, 1], axes[i, 2]
            screw = screws[b, 3 + i]
            screw[0, 1], screw[0, 2], screw[1, 2] = -z, y, -x
            screw[1, 0], screw[2, 0], screw[2, 1] = z, -y, x
            screw[0, 3] = z * place[1] - y * place[2]
            screw[1, 3] = x * place[2] - z * place[0]
            screw[2, 3] = y * place[0] - x * place[1]


@compiled
def placed(values, unity, frames, out):
    """Features in the world's frame, ``(B, K, 3)``."""
    batch, count = values.shape[0], values.shape[1]
    for b in range(batch):
        for k in range(count):
            for i in range(3):
                total = unity[k] * frames[b, i, 3]
                for j in range(3):
                    total += frames[b, i, j] * values[b, k, j]
                out[b, k, i] = total


@compiled
def rates(inner, frames, screws, qdot, y, unity):
    """How features in the world's frame move, given how they move within their base."""
    batch, count, base = inner.shape[0], inner.shape[1], screws.shape[1]
    out = np.empty((batch, count, 3))
    own = np.empty((3, 4))
    for b in range(batch):
        for i in range(3):
            for j in range(4):
                total = 0.0
                for d in range(base):
                    total += qdot[b, d] * screws[b, d, i, j]
                own[i, j] = total
        for k in range(count):
            for i in range(3):
                total = unity[k] * own[i, 3]
                for j in range(3):
                    total += frames[b, i, j] * inner[b, k, j] + own[i, j] * y[b, k, j]
                out[b, k, i] = total
    return out


@compiled
def pulls(frames, screws, y, unity, forces, out, within):
    """What forces on features do to the base, into ``out`` ``(B, 6 or 0)``; and these forces as seen from it, into
    ``within`` ``(B, K, 3)``."""
    batch, count, base = y.shape[0], y.shape[1], screws.shape[1]
    wrench = np.empty((3, 4))
    for b in range(batch):
        for i in range(3):
            for j in range(4):
                wrench[i, j] = 0.0
        for k in range(count):
            for i in range(3):
                force = forces[b, k, i]
                for j in range(3):
                    wrench[i, j] += force * y[b, k, j]
                wrench[i, 3] += force * unity[k]
                total = 0.0
                for j in range(3):
                    total += forces[b, k, j] * frames[b, j, i]
                within[b, k, i] = total
        for d in range(base):
            total = 0.0
            for i in range(3):
                for j in range(4):
                    total += screws[b, d, i, j] * wrench[i, j]
            out[b, d] = total


@compiled
def slopes(inner, frames, screws, y, unity):
    """Derivatives of features by all coordinates ``(B, K, 3, D)``, given those within the base."""
    batch, count, base, more = inner.shape[0], inner.shape[1], screws.shape[1], inner.shape[3]
    out = np.empty((batch, count, 3, base + more))
    for b in range(batch):
        for k in range(count):
            for i in range(3):
                row = out[b, k, i]
                for d in range(base):
                    total = unity[k] * screws[b, d, i, 3]
                    for j in range(3):
                        total += screws[b, d, i, j] * y[b, k, j]
                    row[d] = total
                for d in range(more):
                    total = 0.0
                    for j in range(3):
                        total += frames[b, i, j] * inner[b, k, j, d]
                    row[base + d] = total
    return out


@compiled
def drawn(y, gap, forces, first, acceleration, dt):
    """½ gap · forces / dt² and the potential of a uniform field, of the first moment; ``forces`` become the slopes of
    both by the features."""
    total = 0.0
    for k in range(first.shape[0]):
        for i in range(3):
            pull = forces[0, k, i] / dt**2
            weight = first[k] * acceleration[i]
            total += 0.5 * gap[0, k, i] * pull - weight * y[0, k, i]
            forces[0, k, i] = pull - weight
    return total
